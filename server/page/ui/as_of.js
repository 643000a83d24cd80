// Which day's data the page shows: `as_of` in the address, today's without it.

import { html, useEffect } from "../vendor/preact.js";
import { place, setQuery } from "../core/router.js";
import { Icon } from "./icons.js";
import { Popover } from "./parts.js";

/** Draw these plots again when another day is chosen. @param {() => Iterable<import("../plot/live.js").LivePlot>} plots */
export function useAsOf(plots) {
  const day = place.value.query.get("as_of");
  useEffect(() => { for (const one of plots()) if (one.shown.peek() || one.error.peek()) one.draw(); }, [day]);
}

/** A choice of a day. */
export function AsOf() {
  const day = place.value.query.get("as_of");
  /** @param {string | null} chosen */
  const choose = (chosen) => setQuery({ as_of: chosen });
  return html`<${Popover} panel named title="As of" label=${html`<${Icon} name="history" /> ${day ? `As of ${day}` : "As of"}`}>
    <div class="stack"><label class="labelled" for="as-of">Show the data of this day<input class="input" type="date" id="as-of" value=${day ?? ""}
      max=${new Date().toISOString().slice(0, 10)} onChange=${(/** @type {any} */ event) => choose(event.target.value || null)} /></label>
    <p class="soft small">Tests have the samples that they had at the end of the day (UTC). Plots are those of today.</p>
    ${day && html`<div><button type="button" class="button slim" onClick=${() => choose(null)}>Back to today</button></div>`}</div><//>`;
}

/** That the data are not those of today. */
export function AsOfNote() {
  const day = place.value.query.get("as_of");
  return day && html`<div class="note" role="status" style=${{ marginBottom: "12px" }}><${Icon} name="history" /><div>The data are shown as of ${day}. ${""}
    <button type="button" class="button slim" onClick=${() => setQuery({ as_of: null })}>Back to today</button></div></div>`;
}
