// A figure as a few thin lines.

import { html } from "../vendor/preact.js";

/** @typedef {{ dots: boolean, points: number[][], bars?: boolean }} Line  Places of points, from 0 to 100; with bars each two are the ends of one. */

/** The lines within a part of a drawing. @param {{ at: { x: number, y: number, w: number, h: number }, lines?: Line[] | null }} given */
export function Lines({ at, lines }) {
  /** @param {number[]} point */
  const place = ([x, y]) => `${(at.x + (x * at.w) / 100).toFixed(1)} ${(at.y + (y * at.h) / 100).toFixed(1)}`;
  /** @param {Line} one @param {number[]} point @param {number} k */
  const drawn = (one, point, k) => (one.dots ? `M${place(point)}h0` : `${(one.bars ? k % 2 : k) ? "L" : "M"}${place(point)}`);
  const bars = (lines ?? []).reduce((sum, one) => sum + (one.bars ? one.points.length / 2 : 0), 0);
  /** @param {Line} one */
  const thick = (one) => {
    if (!one.bars) return one.dots ? 2.2 : 1.1;
    const upright = one.points[0][0] === one.points[1][0];
    return Math.min(8, Math.max(1.1, (0.5 * (upright ? at.w : at.h)) / bars));
  };
  return (lines ?? []).map((one, n) => html`<path key=${n} d=${one.points.map((point, k) => drawn(one, point, k)).join("")} fill="none" stroke="currentColor"
    stroke-width=${thick(one)} stroke-linecap=${one.bars ? "butt" : "round"} stroke-linejoin="round" opacity=${Math.max(0.35, 0.95 - n * 0.12)} />`);
}
