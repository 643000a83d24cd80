// Ways out of the page for a plot: its numbers, its picture, its link.

import { html } from "../vendor/preact.js";
import { ask, query } from "../core/api.js";
import { asOf } from "../core/router.js";
import { Icon } from "../ui/icons.js";
import { wanted } from "../ui/later.js";
import { copy, hand, say, sayError } from "../ui/parts.js";
import { plotPath } from "./live.js";

/** What the server writes: format, word. */
const SERVER = [["csv", "Numbers (csv)"], ["parquet", "Numbers (parquet)"], ["pdf", "Print (pdf)"], ["ipynb", "Notebook (ipynb)"]];

/** @param {Response} answer @param {string} otherwise */
function nameOf(answer, otherwise) {
  const said = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(answer.headers.get("content-disposition") ?? "")?.[1];
  const name = said && said !== "data.csv" && said !== "data.parquet" ? safely(said) : otherwise;
  return name.replace(/[\\/:*?"<>|\u0000-\u001f\u202a-\u202e\u2066-\u2069]/g, "_").slice(0, 120);
}

/** @param {string} text */
function safely(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A file of the server, saved by the browser: a link could not carry the session. @param {string} address @param {string} name */
export async function download(address, name) {
  const made = say(`Making ${name} …`, { stay: true });
  try {
    const answer = await ask(address);
    hand(await answer.blob(), nameOf(answer, name));
  } catch (error) {
    sayError(error);
  } finally {
    made();
  }
}

/** A file name from a plot's name. @param {string} name */
export const fileName = (name) => `${name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "plot"}-${new Date().toISOString().slice(0, 10)}`;

/** The picture as it is shown. @param {string} plot @param {"png" | "svg"} format @param {string} name */
async function picture(plot, format, name) {
  const gd = document.querySelector(`[data-plot="${CSS.escape(plot)}"] .wb-figure`);
  const plotly = /** @type {any} */ (globalThis).Plotly;
  if (!gd || !plotly) return say("There is no picture yet.", { wrong: true });
  const { width, height } = gd.getBoundingClientRect();
  const address = await plotly.toImage(gd, { format, width, height, scale: format === "png" ? 2 : 1 });
  const [head, body] = [address.slice(0, address.indexOf(",")), address.slice(address.indexOf(",") + 1)];
  const bytes = head.includes("base64") ? Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0)) : new TextEncoder().encode(decodeURIComponent(body));
  hand(new Blob([bytes], { type: format === "png" ? "image/png" : "image/svg+xml" }), `${name}.${format}`);
}

/** Ask how a page is to be made. @param {{ at: string, values: string, asOf: string | null, name: string, several?: boolean }} given */
export const wantPage = (given) => { wanted.value = { load: () => import("./page_export.js"), of: "PageExport", ...given }; };

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
