// A figure by keyboard: plus and minus zoom, arrows move what is zoomed, 0 shows all. Loaded when a figure gets the focus.

import { libraryFor } from "./library.js";

const ZOOM = 0.5;
const STEP = 0.25;
const WAYS = /** @type {Record<string, [string, number]>} */ ({ ArrowLeft: ["x", -STEP], ArrowRight: ["x", STEP], ArrowDown: ["y", -STEP], ArrowUp: ["y", STEP] });

/** The changes of the layout that a key asks for; null for a key that the page needs. @param {any} gd @param {string} key @returns {Record<string, any> | null} */
function changes(gd, key) {
  const axes = Object.entries(gd._fullLayout ?? {}).filter(([name, axis]) => /^[xy]axis\d*$/.test(name) && !axis.fixedrange);
  if (key === "0") return Object.fromEntries(axes.map(([name]) => [`${name}.autorange`, true]));
  const factor = { "+": ZOOM, "=": ZOOM, "-": 1 / ZOOM }[key];
  const [letter, step] = WAYS[key] ?? ["", 0];
  // Arrows scroll the page until something is zoomed.
  const moved = axes.filter(([name, axis]) => factor || (name[0] === letter && !axis.autorange));
  if (!moved.length) return null;
  return Object.fromEntries(moved.flatMap(([name, axis]) => {
    const [from, to] = axis.range.map(axis.r2l); // dates and logarithms as numbers
    const [middle, half] = [(from + to) / 2 + step * (to - from), ((to - from) / 2) * (factor ?? 1)];
    return [[`${name}.range[0]`, axis.l2r(middle - half)], [`${name}.range[1]`, axis.l2r(middle + half)]];
  }));
}

/** @param {any} gd @param {import("./live.js").LivePlot} live */
export function listen(gd, live) {
  gd.setAttribute("aria-keyshortcuts", "+ - 0");
  gd.addEventListener("keydown", async (/** @type {KeyboardEvent} */ event) => {
    if (event.target !== gd || event.altKey || event.ctrlKey || event.metaKey) return;
    const asked = changes(gd, event.key);
    if (!asked || !Object.keys(asked).length) return;
    event.preventDefault();
    (await libraryFor(live.shown.peek())).relayout(gd, asked);
  });
}
