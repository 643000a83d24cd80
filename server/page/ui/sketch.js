// A figure as a few thin lines.

import { html } from "../vendor/preact.js";

/** @typedef {{ dots: boolean, points: number[][] }} Line  Places of points, from 0 to 100. */

/** The lines within a part of a drawing. @param {{ at: { x: number, y: number, w: number, h: number }, lines?: Line[] | null }} given */
export function Lines({ at, lines }) {
  /** @param {number[]} point */
  const place = ([x, y]) => `${(at.x + (x * at.w) / 100).toFixed(1)} ${(at.y + (y * at.h) / 100).toFixed(1)}`;
  return (lines ?? []).map((one, n) => html`<path key=${n} d=${one.points.map((point, k) => (one.dots ? `M${place(point)}h0` : `${k ? "L" : "M"}${place(point)}`)).join("")} fill="none" stroke="currentColor"
    stroke-width=${one.dots ? 2.2 : 1.1} stroke-linecap="round" stroke-linejoin="round" opacity=${Math.max(0.35, 0.95 - n * 0.12)} />`);
}
