// What one may do with a whole dashboard.

import { html, useState } from "../vendor/preact.js";
import { part, query, remove } from "../core/api.js";
import { asOf, go } from "../core/router.js";
import { download, fileName } from "../plot/exports.js";
import { wantPage } from "../plot/want_page.js";
import { Icon } from "../ui/icons.js";
import { Later } from "../ui/later.js";
import { Confirm, Popover, sayError } from "../ui/parts.js";

/** What the server writes of a whole dashboard: format, word. */
const FORMATS = [["pdf", "Report (pdf)"], ["ipynb", "Notebook (ipynb)"], ["zip", "Everything (zip)"]];

/** Print when every plot is drawn, also those that nobody has scrolled to. @param {import("../plot/live.js").LivePlot[]} lives */
async function printed(lives) {
  await Promise.all(lives.map((one) => one.ready()));
  await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  await Promise.all([...document.querySelectorAll('.tile[data-state="drawn"]')].map(pictured));
  print();
}

/** Resolves when a tile has its picture. @param {Element} tile @returns {Promise<void>} */
const pictured = (tile) => new Promise((go) => {
  const look = () => { if (tile.querySelector("[data-drawn]")) { seen.disconnect(); go(); } };
  const seen = new MutationObserver(look);
  seen.observe(tile, { subtree: true, childList: true, attributes: true });
  look();
});

/** What was chosen, by the id of the plot. @param {Map<string, import("../plot/live.js").LivePlot>} lives @returns {Record<string, any>} */
const chosenValues = (lives) => Object.fromEntries([...lives].map(([id, one]) => [id, one.chosen.peek()]).filter(([, given]) => Object.keys(/** @type {any} */ (given)).length));

/**
 * @param {{ project: string, record: any, writes: boolean, base: string, lives: Map<string, import("../plot/live.js").LivePlot>, arrange: () => void, alerts: () => void, again: () => void }} given
 */
export function BoardMenu({ project, record, writes, base, lives, arrange, alerts, again }) {
  const [open, setOpen] = useState("");
  const at = `/projects/${part(project)}/dashboards/${part(record.id)}`;
  const values = () => {
    const chosen = chosenValues(lives);
    return Object.keys(chosen).length ? JSON.stringify(chosen) : "";
  };
  return html`
    <${Popover} named title="Export the dashboard" label=${html`<${Icon} name="download" /> Export`}>
      <button type="button" onClick=${() => wantPage({ at, values: values(), asOf: asOf(), name: fileName(record.name), several: true })}><${Icon} name="download" /> One page that works offline (html) …</button>
      ${FORMATS.map(([format, word]) => html`<button key=${format} type="button" onClick=${() => download(`${at}/export${query({ format, values: values(), as_of: asOf() })}`, `${fileName(record.name)}.${format}`)}><${Icon} name="download" /> ${word}</button>`)}
      <button type="button" onClick=${() => printed([...lives.values()])}><${Icon} name="file" /> Print</button>
    <//>
    ${writes && html`<button type="button" class="button" onClick=${() => setOpen("share")}><${Icon} name="share" /> Share</button>
    <${Popover} named title="Change the dashboard" label=${html`<${Icon} name="edit" /> Edit`}>
      <a href=${`/explore/gallery/${project}?board=${record.id}`}><${Icon} name="chart" /> New plot from the gallery</a>
      <a href=${`${base}/new-plot`}><${Icon} name="plus" /> New plot, written by hand</a>
      <button type="button" onClick=${arrange}><${Icon} name="grid" /> Arrange</button>
      <button type="button" onClick=${alerts}><${Icon} name="warn" /> Alerts</button>
      <button type="button" onClick=${() => setOpen("name")}><${Icon} name="edit" /> Name and description</button><hr />
      <button type="button" onClick=${() => setOpen("delete")}><${Icon} name="close" /> Delete</button>
    <//>`}
    ${open === "share" && html`<${Later} load=${() => import("./share.js")} of="ShareDialog" project=${project} target=${{ dashboard_id: record.id }} name=${record.name} values=${chosenValues(lives)} close=${() => setOpen("")} />`}
    ${open === "name" && html`<${Later} load=${() => import("./board_name.js")} of="BoardName" at=${at} record=${record} close=${(/** @type {boolean} */ changed) => { setOpen(""); if (changed) again(); }} />`}
    ${open === "delete" && html`<${Confirm} title="Delete this dashboard?" danger yes="Delete it" onClose=${() => setOpen("")} onYes=${() => remove(at).then(() => go("/"), sayError)}
      text=${html`<strong class="break">${record.name}</strong> and its plots with all their revisions go. Cells and tests stay.`} />`}`;
}
