// What the alerts of a dashboard found and nobody has seen.

import { html, useEffect } from "../vendor/preact.js";
import { get, part, post, query } from "../core/api.js";
import { useLoaded } from "../core/load.js";
import { ago, cell, many } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { sayError } from "../ui/parts.js";

const LOOK_EVERY_MS = 30_000;
const SHOWN = 5;

/** What a row is named by, in words. @param {any} one @param {any[]} plots */
function words(one, plots) {
  const values = Object.entries(one.found).filter(([name]) => !(name in one.key) && !/(^|_)id$/.test(name)).slice(0, 3);
  const named = Object.entries(one.key).filter(([name]) => !/(^|_)id$/.test(name));
  const plot = plots.find((other) => other.id === one.plot_id)?.name;
  return [...named, ...values].map(([name, value]) => `${name} ${cell(value)}`).concat(plot ? [`in ${plot}`] : []).join(", ");
}

/** What was found and nobody has seen. @param {{ project: string, board: string, plots: any[], writes: boolean }} given */
export function BoardAlerts({ project, board, plots, writes }) {
  const at = `/projects/${part(project)}/alerts/occurrences`;
  const found = useLoaded((stop) => get(at + query({ acknowledged: false, on_dashboard: board, limit: 100 }), { signal: stop, quiet: true }), [at, board]);
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) found.again(); }, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const items = found.data?.items ?? [];
  if (!items.length) return null;
  /** @param {any[]} some */
  const seen = (some) => Promise.all(some.map((one) => post(`${at}/${part(one.id)}/acknowledge`, undefined))).then(found.again, sayError);
  return html`<section class="note alerts" aria-label="Alerts" style=${{ marginBottom: "12px" }}><${Icon} name="warn" /><div class="stack">
    <strong>${many(found.data.total, "alert")}</strong>
    <ul class="plain-list">${items.slice(0, SHOWN).map((/** @type {any} */ one) => html`<li key=${one.id} class="spread"><span><strong>${one.alert}</strong> ${words(one, plots)} <span class="soft small">${ago(one.first_true)}</span></span>
      ${writes && html`<button type="button" class="button slim" onClick=${() => seen([one])}>Seen<span class="unseen">: ${one.alert}</span></button>`}</li>`)}</ul>
    ${items.length > SHOWN && html`<div class="soft small">and ${many(found.data.total - SHOWN, "more alert")}</div>`}
    ${writes && items.length > 1 && html`<div><button type="button" class="button slim" onClick=${() => seen(items)}>Seen all</button></div>`}</div></section>`;
}
