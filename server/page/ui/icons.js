// The icons: lines on a grid of 20.

import { html } from "../vendor/preact.js";

const PATHS = {
  search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM13.2 13.2 17 17",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM10 2v1.8M10 16.2V18M2 10h1.8M16.2 10H18M4.4 4.4l1.2 1.2M14.4 14.4l1.2 1.2M15.6 4.4l-1.2 1.2M5.6 14.4l-1.2 1.2",
  moon: "M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5Z",
  sliders: "M3 6h7M14 6h3M12 4v4M3 14h3M10 14h7M8 12v4",
  more: "M4.5 10h.01M10 10h.01M15.5 10h.01",
  plus: "M10 4v12M4 10h12",
  close: "M5 5l10 10M15 5 5 15",
  link: "M8.5 11.5a3 3 0 0 0 4.2 0l2.6-2.6a3 3 0 0 0-4.2-4.2l-.9.9M11.5 8.5a3 3 0 0 0-4.2 0l-2.6 2.6a3 3 0 0 0 4.2 4.2l.9-.9",
  download: "M10 3v9M6 8.5 10 12.5 14 8.5M4 16.5h12",
  edit: "M4 16l.8-3.6L13.2 4a1.6 1.6 0 0 1 2.3 0l.5.5a1.6 1.6 0 0 1 0 2.3L7.6 15.2 4 16Z",
  share: "M10 12.5V3M6.5 6 10 2.8 13.5 6M5 9.5v6.7h10V9.5",
  refresh: "M16 10a6 6 0 1 1-1.8-4.3M16 3v3.5h-3.5",
  undo: "M4 8h8a4 4 0 0 1 0 8H8M4 8l3.5-3.5M4 8l3.5 3.5",
  grid: "M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM11.5 11.5h5v5h-5z",
  chart: "M3 16.5h14M5 13.5l3-4 3 2 4.5-6.5",
  cell: "M3 7h12v6H3zM15 9h2v2h-2M5.5 9v2M8 9v2",
  test: "M7 3h6M8 3v5L4.5 15a1.4 1.4 0 0 0 1.2 2h8.6a1.4 1.4 0 0 0 1.2-2L12 8V3M6.5 12h7",
  warn: "M10 3.5 17.5 16h-15L10 3.5ZM10 8.5v3.5M10 14v.01",
  check: "M4 10.5 8 14.5 16 5.5",
  people: "M7.5 9.5a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6ZM2.5 16c.4-2.8 2.3-4.3 5-4.3s4.600 1.500 5 4.300M13 4.200a2.600 2.600 0 0 1 0 5M14.500 12c1.700.5 2.700 1.900 3 4",
  file: "M5 2.500h6.500L15 6v11.500H5zM11.500 2.500V6H15",
  history: "M3.500 10a6.500 6.500 0 1 0 2-4.700L3.500 7M3.500 3.500V7H7M10 6.500V10l2.500 1.500",
  key: "M12.500 11a3.500 3.500 0 1 0-3.300-2.300L3 15v2h2.500v-2h2v-2l1.900-1.900c.9.600 2 .900 3.100.900ZM13.300 6.700v.01",
  out: "M8 3.500H4v13h4M12 6.500 15.500 10 12 13.500M15.500 10H8",
  left: "M12 4.500 6.500 10 12 15.500",
  right: "M8 4.500 13.500 10 8 15.500",
  up: "M4.500 12 10 6.500 15.500 12",
  down: "M4.500 8 10 13.500 15.500 8",
  drag: "M7.500 5v.01M7.500 10v.01M7.500 15v.01M12.500 5v.01M12.500 10v.01M12.500 15v.01",
  corner: "M16 9v7H9",
};

/** @typedef {keyof typeof PATHS} IconName */

/** @param {{ name: IconName, size?: number }} given */
export const Icon = ({ name, size = 18 }) => html`
  <svg viewBox="0 0 20 20" width=${size} height=${size} aria-hidden="true" fill="none" stroke="currentColor"
    stroke-width=${["more", "drag"].includes(name) ? 2.6 : 1.6} stroke-linecap="round" stroke-linejoin="round"><path d=${PATHS[name]} /></svg>`;
