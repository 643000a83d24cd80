// A page whose controls work without a server: what it will hold is said before it is made.

import { html } from "../vendor/preact.js";
import { get, query } from "../core/api.js";
import { useLoaded } from "../core/load.js";
import { many, size } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { Dialog, Failed, Ghosts } from "../ui/parts.js";
import { download } from "./exports.js";

/** @typedef {{ figures: number, bytes: number, most_bytes: number, turning: number, fixed: { plot: string, label: string, why: string }[] }} PageSize */

/** @param {{ at: string, values: string, asOf: string | null, name: string, several?: boolean, close: () => void }} given */
export function PageExport({ at, values, asOf, name, several, close }) {
  const found = useLoaded((stop) => /** @type {Promise<PageSize>} */ (get(`${at}/export/size${query({ values, as_of: asOf })}`, { signal: stop })), [at, values, asOf]);
  const made = found.data;
  /** @param {boolean} controls */
  const take = (controls) => {
    close();
    download(`${at}/export${query({ format: "html", values, as_of: asOf, controls: controls || "" })}`, `${name}.html`);
  };
  return html`<${Dialog} title="Page that works offline" onClose=${close} wide=${(made?.fixed.length ?? 0) > 6}
    foot=${html`<button type="button" class="button" onClick=${() => take(false)}>Without controls</button>
      <button type="button" class=${`button ${made?.turning ? "main" : ""}`} disabled=${!made?.turning} onClick=${() => take(true)}><${Icon} name="download" /> With controls</button>`}>
    <p class="soft">One html file. It opens in any browser, without a network and without this server, and shows the data as they are now.</p>
    ${found.error && html`<${Failed} error=${found.error} />`}
    ${!made && !found.error && html`<${Ghosts} rows=${2} height=${30} />`}
    ${made && html`<p>${made.turning ? html`<strong>${many(made.turning, "control")} will work</strong>: ${many(made.figures, "figure")} are computed now, about ${size(made.bytes)} or less. A page has at most ${size(made.most_bytes)}.`
      : "No control can work without the server; the figures are as they are shown now."}</p>`}
    ${made && made.fixed.length > 0 && html`<div class="stack"><h3>These stay as they are</h3><ul class="plain-list small">${made.fixed.map((one) => html`<li><strong>${one.label}</strong>${several ? html` <span class="soft">of ${one.plot}</span>` : ""}: ${one.why}</li>`)}</ul></div>`}<//>`;
}
