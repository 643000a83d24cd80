// Ways out of the page for a plot: its numbers, its picture, its link. A dashboard draws without them.

import { html } from "../vendor/preact.js";
import { query } from "../core/api.js";
import { asOf } from "../core/router.js";
import { isDark } from "../core/theme.js";
import { Icon } from "../ui/icons.js";
import { copy, hand, say, sayError } from "../ui/parts.js";
import { download, fileName } from "./exports.js";
import { wantPage } from "./want_page.js";
import { plotPath } from "./live.js";

/** What the server writes: format, word. */
const SERVER = [["csv", "Numbers (csv)"], ["parquet", "Numbers (parquet)"], ["pdf", "Print (pdf)"], ["ipynb", "Notebook (ipynb)"]];

/** The picture as it is shown, on light ground. @param {string} plot @param {"png" | "svg"} format @param {string} name */
async function picture(plot, format, name) {
  const gd = /** @type {any} */ (document.querySelector(`[data-plot="${CSS.escape(plot)}"] .wb-figure`));
  const plotly = /** @type {any} */ (globalThis).Plotly;
  if (!gd || !plotly) return say("There is no picture yet.", { wrong: true });
  const { width, height } = gd.getBoundingClientRect();
  const address = await plotly.toImage(isDark.peek() ? gd.onPaper() : gd, { format, width, height, scale: format === "png" ? 2 : 1 });
  const [head, body] = [address.slice(0, address.indexOf(",")), address.slice(address.indexOf(",") + 1)];
  const bytes = head.includes("base64") ? Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0)) : new TextEncoder().encode(decodeURIComponent(body));
  hand(new Blob([bytes], { type: format === "png" ? "image/png" : "image/svg+xml" }), `${name}.${format}`);
}

/** @param {{ live: import("./live.js").LivePlot, plot: any, to: string }} given */
export function ExportMenu({ live, plot, to }) {
  const [, , project, board] = to.split("?")[0].split("/").map(decodeURIComponent);
  const at = plotPath(project, board, plot.id);
  const values = Object.keys(live.chosen.value).length ? JSON.stringify(live.chosen.value) : "";
  const name = fileName(plot.name);
  const drawn = Boolean(live.answer.value);
  return html`
    <button type="button" onClick=${() => copy(new URL(to, location.href).href, "Link")}><${Icon} name="link" /> Copy the link with these values</button>
    <div class="caption">Download</div>
    <button type="button" disabled=${!drawn} onClick=${() => picture(plot.id, "png", name).catch(sayError)}><${Icon} name="download" /> Picture (png)</button>
    <button type="button" disabled=${!drawn} onClick=${() => picture(plot.id, "svg", name).catch(sayError)}><${Icon} name="download" /> Drawing (svg)</button>
    <button type="button" disabled=${!drawn} onClick=${() => wantPage({ at, values, asOf: asOf(), name })}><${Icon} name="download" /> Page that works offline (html) …</button>
    ${SERVER.map(([format, word]) => html`<button key=${format} type="button" disabled=${!drawn} onClick=${() => download(`${at}/export${query({ format, values, as_of: asOf() })}`, `${name}.${format}`)}><${Icon} name="download" /> ${word}</button>`)}`;
}
