// Arranging a dashboard: plots are moved and resized on twelve columns, by pointer or by keyboard.

import { html, useRef, useState } from "../vendor/preact.js";
import { everything, get, part, patch } from "../core/api.js";
import { useUnsaved } from "../core/load.js";
import { many } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { say, sayError } from "../ui/parts.js";

/** @typedef {import("./places.js").Place} Place */

const COLUMNS = 12;
const LEAST = { w: 3, h: 6 };
const MOST_H = 24;

/** @param {Place} a @param {Place} b */
const overlap = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** All places with one of them as wanted: the others go down until nothing overlaps, then everything up. @param {Place[]} places @param {Place} wanted @returns {Place[]} */
export function settled(places, wanted) {
  const fixed = { ...wanted, w: Math.max(LEAST.w, Math.min(COLUMNS, wanted.w)), h: Math.max(LEAST.h, Math.min(MOST_H, wanted.h)) };
  fixed.x = Math.max(0, Math.min(COLUMNS - fixed.w, fixed.x));
  fixed.y = Math.max(0, fixed.y);
  const rest = places.filter((one) => one.plot_id !== fixed.plot_id).sort((a, b) => a.y - b.y || a.x - b.x);
  const done = [fixed];
  for (const one of rest) {
    const at = { ...one };
    for (let other = done.find((two) => overlap(at, two)); other; other = done.find((two) => overlap(at, /** @type {Place} */ (two)))) at.y = other.y + other.h;
    done.push(at);
  }
  /** @type {Place[]} */
  const up = [];
  for (const one of done.sort((a, b) => a.y - b.y || a.x - b.x)) {
    const at = { ...one };
    while (at.y > 0 && !up.some((two) => overlap({ ...at, y: at.y - 1 }, two))) at.y -= 1;
    up.push(at);
  }
  return up;
}

/** @param {{ project: string, record: any, plots: any[], places: Map<string, Place>, close: (changed: boolean) => void }} given */
export function Arrange({ project, record, plots, places, close }) {
  const [layout, setLayout] = useState(/** @type {Place[]} */ ([...places.values()]));
  const [held, setHeld] = useState("");
  useUnsaved(layout.some((one) => JSON.stringify(one) !== JSON.stringify(places.get(one.plot_id))) ? "Leave the dashboard? Its arrangement is not saved." : "");
  const [heard, setHeard] = useState("");
  const board = useRef(/** @type {HTMLElement | null} */ (null));
  const byId = new Map(layout.map((one) => [one.plot_id, one]));
  /** @param {Place} wanted */
  const put = (wanted) => setLayout((now) => settled(now, wanted));
  const at = `/projects/${part(project)}/dashboards/${part(record.id)}`;
  /** Save what is there still; what somebody else arranged meanwhile is not lost without a word. */
  const save = async () => {
    const [now, all] = await Promise.all([get(at), everything(`${at}/plots`)]);
    const there = new Set(all.map((one) => one.id));
    /** @param {Place[]} given */
    const left = (given) => given.filter((one) => there.has(one.plot_id));
    const known = (/** @type {Place[] | null} */ given) => JSON.stringify(left(given ?? []).filter((one) => byId.has(one.plot_id)));
    if (known(now.layout) !== known(record.layout) && !confirm("Somebody else has arranged this dashboard meanwhile. Save your arrangement instead of theirs?")) return;
    await patch(at, { layout: left(layout) });
    say("The arrangement is saved.");
    close(true);
  };

  /** @param {any} plot @param {boolean} resize */
  const drag = (plot, resize) => (/** @type {any} */ event) => {
    if (event.button) return;
    event.preventDefault();
    const node = /** @type {HTMLElement} */ (board.current);
    const from = { .../** @type {Place} */ (byId.get(plot.id)) };
    const column = (node.clientWidth + 14) / COLUMNS;
    const row = 56;
    const start = [event.clientX, event.clientY + scrollY];
    const target = event.currentTarget;
    target.setPointerCapture(event.pointerId);
    setHeld(plot.id);
    /** @param {PointerEvent} move */
    const moved = (move) => {
      const [dx, dy] = [Math.round((move.clientX - start[0]) / column), Math.round((move.clientY + scrollY - start[1]) / row)];
      put(resize ? { ...from, w: from.w + dx, h: from.h + dy } : { ...from, x: from.x + dx, y: from.y + dy });
    };
    const ended = () => { target.removeEventListener("pointermove", moved); setHeld(""); };
    target.addEventListener("pointermove", moved);
    target.addEventListener("pointerup", ended, { once: true });
    target.addEventListener("pointercancel", ended, { once: true });
  };

  /** @param {any} plot */
  const keys = (plot) => (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const at = byId.get(plot.id);
    if (!step || !at) return;
    event.preventDefault();
    // One row up does nothing below another plot: the whole way to its top is what is meant.
    const above = layout.filter((one) => one.y + one.h <= at.y && one.x < at.x + at.w && at.x < one.x + one.w);
    const up = step[1] < 0 && above.length ? Math.max(...above.map((one) => one.y)) : at.y + step[1];
    const next = layout.filter((one) => one.y >= at.y + at.h && one.x < at.x + at.w && at.x < one.x + one.w);
    const down = step[1] > 0 && next.length ? Math.min(...next.map((one) => one.y + one.h)) - at.h + 1 : at.y + step[1];
    const wanted = event.shiftKey ? { ...at, w: at.w + step[0], h: at.h + step[1] } : { ...at, x: at.x + step[0], y: step[1] < 0 ? up : step[1] > 0 ? down : at.y };
    const made = settled(layout, wanted);
    setLayout(made);
    const now = /** @type {Place} */ (made.find((one) => one.plot_id === plot.id));
    setHeard(`${plot.name}: column ${now.x + 1}, row ${now.y + 1}, ${now.w} columns wide, ${now.h} rows high.`);
  };

  return html`
    <div class="arrange-bar"><strong>Arrange</strong><span>Drag a plot by its name or its corner. By keyboard: arrows move, Shift and arrows resize.</span>
      <span class="row" style=${{ marginLeft: "auto" }}><button type="button" class="button" onClick=${() => close(false)}>Cancel</button><button type="button" class="button main" onClick=${() => save().catch(sayError)}>Save</button></span></div>
    <div class="unseen" role="status">${heard}</div>
    <div class="board arranging" ref=${board}>${plots.map((plot) => {
      const at = /** @type {Place} */ (byId.get(plot.id));
      return html`<article key=${plot.id} class=${`box tile ${held === plot.id ? "held" : ""}`} aria-label=${plot.name} style=${{ gridColumn: `${at.x + 1} / span ${at.w}`, gridRow: `${at.y + 1} / span ${at.h}`, minHeight: "0" }}>
        <div class="tile-head"><button type="button" class="button plain grip" aria-label=${`Move ${plot.name}`} onPointerDown=${drag(plot, false)} onKeyDown=${keys(plot)}><${Icon} name="drag" /><span class="one-line">${plot.name}</span></button></div>
        <div class="empty soft small">${many(at.w, "column")} × ${many(at.h, "row")}</div>
        <button type="button" class="corner" aria-label=${`Resize ${plot.name}`} onPointerDown=${drag(plot, true)} onKeyDown=${(/** @type {any} */ event) => keys(plot)(Object.defineProperty(event, "shiftKey", { value: true }))}><${Icon} name="corner" /></button>
      </article>`;
    })}</div>`;
}
