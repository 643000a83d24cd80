// A plot on a dashboard: its name, its picture, what it shows and what it cost, its controls and its ways out.

import { html, useEffect, useRef } from "../vendor/preact.js";
import { query as queryOf } from "../core/api.js";
import { asOf, writeValues } from "../core/router.js";
import { clock, many, points } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { Popover, problemsOf } from "../ui/parts.js";
import { Later } from "../ui/later.js";
import { controlCount } from "./live.js";
import { Picture } from "./picture.js";

/** @typedef {import("./live.js").LivePlot} LivePlot */

/** What is wrong, below the old picture. @param {{ live: LivePlot, edit?: string | null }} given */
export function Trouble({ live, edit }) {
  const error = live.error.value;
  if (!error) return null;
  const lines = (Array.isArray(error.detail) ? error.detail : []).filter((/** @type {any} */ one) => one.ctx?.line);
  const others = problemsOf(error).filter((text) => !lines.some((/** @type {any} */ one) => text.endsWith(one.msg)));
  return html`<div class="trouble" role="alert" style=${live.shown.value ? {} : { flex: "1", minHeight: 0, maxHeight: "none" }}><div class="note wrong"><${Icon} name="warn" /><div>
    <strong>${error.message}</strong>
    ${others.map((text) => html`<div class="small">${text}</div>`)}
    ${lines.map((/** @type {any} */ one) => html`<pre>${one.ctx.line}  ${one.ctx.text ?? ""}</pre>`)}
    <div class="row">${Object.keys(live.chosen.value).length > 0 && html`<button type="button" class="button slim" onClick=${() => live.reset()}>Back to the saved values</button>`}
      <button type="button" class="button slim" onClick=${() => live.draw()}>Try again</button>
      ${edit && html`<a class="button slim" href=${edit}>Open in the editor</a>`}</div></div></div></div>`;
}

/** What is shown, what it cost, what to know. @param {{ live: LivePlot }} given */
export function Footer({ live }) {
  const samples = live.samples;
  const notes = live.notes.value;
  const warned = notes.some((one) => !one.hint);
  return html`<div class="tile-foot" role="status">
    ${samples && html`<span title=${samples.finer ? "Zoom in to read more" : undefined}>${points(samples.shown, samples.of, samples.traces)}</span>`}
    ${live.closer.value && html`<span>${live.closer.value}</span>`}
    ${notes.length > 0 && html`<${Popover} panel named title="Notes" buttonClass=${warned ? "warned" : ""} label=${many(notes.length, "note")}><${Notes} notes=${notes} /><//>`}
    ${live.drawnAt.value && html`<span title=${live.cost.detail}>Drawn at ${clock(live.drawnAt.value)}<span class="unprinted">, ${live.cost.text}</span></span>`}
    ${live.stale.value && html`<button type="button" class="fresh" onClick=${() => live.renew()}><${Icon} name="refresh" size=${14} /> New data</button>`}
  </div>`;
}

/** @param {{ notes: { text: string, hint: boolean }[] }} given */
export const Notes = ({ notes }) => html`<ul class="plain-list">${notes.map((one) => html`<li class=${`note ${one.hint ? "calm" : ""}`}><${Icon} name=${one.hint ? "search" : "warn"} /><div>${one.text}</div></li>`)}</ul>`;

/**
 * @param {{ live: LivePlot, plot: any, to: string, style?: any, writes: boolean, children?: any, large?: boolean }} given
 */
export function Tile({ live, plot, to, style, writes, children, large }) {
  const node = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const seen = new IntersectionObserver((entries) => { if (entries.some((one) => one.isIntersecting)) live.start(); }, { rootMargin: "400px" });
    seen.observe(/** @type {HTMLElement} */ (node.current));
    return () => seen.disconnect();
  }, [live]);
  const controls = controlCount(live);
  const query = queryOf({ values: writeValues(live.chosen.value), as_of: asOf() });
  return html`<article class="box tile" ref=${node} style=${style} aria-label=${plot.name} data-plot=${plot.id} data-state=${live.error.value ? "failed" : live.answer.value ? "drawn" : "waiting"}>
    ${large ? html`<h2 class="unseen">Figure</h2>` : html`<div class="tile-head">
      <h2 class="one-line"><a href=${to + query} title=${plot.name}>${plot.name}</a></h2>
      ${controls > 0 && html`<${Popover} panel named title=${`Controls of ${plot.name}`} buttonClass="button plain slim"
        label=${html`<${Icon} name="sliders" size=${16} /><span>Controls<span class="unseen"> of ${plot.name}</span></span><span class="count">${controls}</span>`}><${Later} load=${() => import("../controls/panel.js")} of="ControlPanel" rows=${3} live=${live} prefix=${`c${plot.id.slice(-6)}`} /><//>`}
      <${Popover} title=${`More about ${plot.name}`} buttonClass="button plain slim icon" label=${html`<${Icon} name="more" />`}>
        <a href=${to + query}><${Icon} name="chart" /> Open large</a>
        ${writes && html`<a href=${`${to}/edit${query}`}><${Icon} name="edit" /> Edit</a>`}
        <button type="button" onClick=${() => live.renew()}><${Icon} name="refresh" /> Read the data again</button><hr />
        <${Later} load=${() => import("./export_menu.js")} of="ExportMenu" live=${live} plot=${plot} to=${to + query} />
      <//>
    </div>`}
    <${Picture} live=${live} />
    <${Trouble} live=${live} edit=${writes ? `${to}/edit${query}` : null} />
    <${Footer} live=${live} />
    ${children}
  </article>`;
}
