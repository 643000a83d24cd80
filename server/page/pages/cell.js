// A cell: what it is, and its tests.

import { html } from "../vendor/preact.js";
import { everything, get, part } from "../core/api.js";
import { useLoaded, useTitle } from "../core/load.js";
import { go } from "../core/router.js";
import { day } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { Empty, Failed, Ghosts, say, sayError } from "../ui/parts.js";
import { PagedTable } from "../ui/paged_table.js";
import { moments } from "../ui/table.js";
import { quantity } from "./explore.js";

/** The ready recipes for the tests of a cell. @param {any} cell */
async function gallery(cell) {
  const tests = await everything(`/cell_instances/${part(cell.id)}/cell_measurements`);
  if (tests.length) go(`/explore/gallery/${part(cell.project_id)}?tests=${tests.map((one) => part(one.id)).join(",")}`);
  else say("Nothing was measured on this cell so far.", { wrong: true });
}

/** @param {{ id: string }} given */
export default function Cell({ id }) {
  const found = useLoaded((stop) => get(`/cell_instances/${part(id)}`, { signal: stop }), [id]);
  useTitle(found.data?.name ?? "Cell");
  if (found.error) return html`<${Failed} error=${found.error} again=${found.again} />`;
  if (!found.data) return html`<${Ghosts} rows=${4} height=${60} />`;
  const cell = found.data;
  return html`
    <div class="head"><div><nav class="crumbs" aria-label="Where this is"><a href="/explore">Explore</a><span>/</span><a href=${`/explore?what=cells&project=${part(cell.project_id ?? "")}`}>Cells</a></nav><h1>${cell.name}</h1>
      <p class="soft">${cell.cell_specification_name ?? cell.specification_name ?? ""}${cell.batch_name ? `, batch ${cell.batch_name}` : ""}</p></div>
      <button type="button" class="button" onClick=${() => gallery(cell).catch(sayError)}><${Icon} name="chart" /> Gallery</button></div>
    <div class="single"><aside class="box pad"><h2>About</h2><dl class="facts" style=${{ marginTop: "10px" }}>
      ${cell.date_manufactured && html`<dt>Made</dt><dd>${cell.date_manufactured}</dd>`}
      ${Object.entries(cell.properties ?? {}).map(([name, value]) => html`<dt key=${name}>${name.replaceAll("_", " ")}</dt><dd key=${`${name}=`}>${quantity(value)}</dd>`)}
      ${cell.notes && html`<dt>Notes</dt><dd>${cell.notes}</dd>`}<dt>Since</dt><dd>${day(cell.created_at)}</dd></dl></aside>
      <section class="stack"><h2>Tests</h2><${PagedTable} label=${`Tests of ${cell.name}`} path=${`/cell_instances/${part(id)}/cell_measurements`} filters=${{}} sorts=${{ name: "name", start_time: "start_time" }}
        empty=${html`<${Empty} icon="test" title="No tests yet">Nothing was measured on this cell so far.<//>`} columns=${[
          { key: "name", label: "Test", show: (/** @type {any} */ row) => html`<a href=${`/explore/tests/${part(row.id)}`}>${row.name}</a>` },
          moments("start_time", "Began"),
          { key: "sample_count", label: "Samples", number: true }, { key: "cycle_count", label: "Cycles", number: true },
          { key: "tags", label: "Tags", sort: false, show: (/** @type {any} */ row) => (row.tags ?? []).map((/** @type {string} */ tag) => html`<span key=${tag} class="chip">${tag}</span>`), text: (/** @type {any} */ row) => (row.tags ?? []).join(" ") },
        ]} /></section></div>`;
}
