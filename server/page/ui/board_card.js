// A dashboard as a card: its plots as thin lines where they are, its name, who changed it.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { get, part } from "../core/api.js";
import { ago, many, who } from "../core/words.js";
import { placesOf } from "../pages/places.js";
import { Icon } from "./icons.js";
import { Lines } from "./sketch.js";
import { Star } from "./star.js";

const [WIDE, HIGH, EDGE] = [290, 132, 12];
const MOST = 12;
const ROWS = 24;

/** @typedef {{ id: string, name: string, lines: import("./sketch.js").Line[] | null }} PlotSketch */
/** @typedef {{ plot_id: string, x: number, y: number, w: number, h: number }} Place */

/** Places of plots on the card. @param {Place[]} layout */
function scaled(layout) {
  const rows = Math.max(12, Math.min(ROWS, ...[Math.max(0, ...layout.map((one) => one.y + one.h))]));
  const [column, row] = [(WIDE - 2 * EDGE + 6) / 12, (HIGH - 2 * EDGE + 6) / Math.max(rows, 1)];
  return layout.slice(0, MOST).map((one) => ({ id: one.plot_id, x: EDGE + one.x * column, y: EDGE + one.y * row, w: one.w * column - 6, h: one.h * row - 6 })).filter((one) => one.y < HIGH);
}

/** @param {{ at: { x: number, y: number, w: number, h: number }, plot: PlotSketch | undefined }} given */
function Tile({ at, plot }) {
  const letters = Math.floor((at.w - 10) / 4.6);
  return html`<g><rect x=${at.x} y=${at.y} width=${at.w} height=${at.h} rx="3" fill="var(--surface)" stroke="var(--line)" />
    <${Lines} at=${{ x: at.x + 5, y: at.y + 5, w: at.w - 10, h: at.h - 10 }} lines=${plot?.lines} />
    ${plot && !plot.lines?.length && html`<text x=${at.x + at.w / 2} y=${at.y + at.h / 2 + 3} text-anchor="middle" font-size="8" fill="var(--soft)">${plot.name.length > letters ? `${plot.name.slice(0, letters - 1)}…` : plot.name}</text>`}</g>`;
}

/** What is kept of a dashboard's plots, once the card is in sight. @param {{ board: any }} given */
function Sketch({ board }) {
  const node = useRef(/** @type {any} */ (null));
  const [plots, setPlots] = useState(/** @type {PlotSketch[]} */ ([]));
  useEffect(() => {
    const stop = new AbortController();
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((one) => one.isIntersecting)) return;
      seen.disconnect();
      // A card without its drawing still says what it is.
      get(`/projects/${part(board.project_id)}/dashboards/${part(board.id)}/sketch`, { signal: stop.signal, quiet: true }).then(setPlots, () => null);
    });
    seen.observe(node.current);
    return () => { seen.disconnect(); stop.abort(); };
  }, [board.id]);
  const known = new Map(plots.map((one) => [one.id, one]));
  return html`<svg ref=${node} viewBox=${`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="xMidYMid meet" aria-hidden="true">
    ${scaled(plots.length ? [...placesOf(board.layout ?? [], plots).values()] : board.layout ?? []).map((at) => html`<${Tile} key=${at.id} at=${at} plot=${known.get(at.id)} />`)}</svg>`;
}

/** @param {{ board: any }} given */
export const BoardCard = ({ board }) => html`<article class="box card" aria-label=${board.name}>
  <div class="sketch"><${Sketch} board=${board} /></div>
  <div class="words"><div class="row tight"><a class="cover" href=${`/boards/${board.project_id}/${board.id}`}>${board.name}</a><${Star} kind="dashboard" id=${board.id} name=${board.name} slim /></div>
    ${board.description && html`<p class="soft small clip">${board.description}</p>`}
    <p class="soft small">${many(board.plot_count ?? (board.layout ?? []).length, "plot")} · changed ${ago(board.updated_at)}, made by ${who(board.created_by_email)}</p>
    ${board.alert_count > 0 && html`<p class="small alerted"><${Icon} name="warn" size=${15} /> ${many(board.alert_count, "alert")} ${board.alert_count === 1 ? "waits" : "wait"} to be seen</p>`}</div></article>`;
