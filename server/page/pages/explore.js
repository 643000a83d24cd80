// Explore: the tests and the cells of a project as tables that sort and filter.

import { html, useEffect, useState } from "../vendor/preact.js";
import { everything, get, part, query } from "../core/api.js";
import { useLoaded, useTitle } from "../core/load.js";
import { may, projects } from "../core/projects.js";
import { place, setQuery } from "../core/router.js";
import { many } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { Empty } from "../ui/parts.js";
import { PagedTable } from "../ui/paged_table.js";
import { moments } from "../ui/table.js";
import { Tabs } from "../ui/tabs.js";

const WAIT_MS = 250;
const LISTS = [{ key: "tests", word: "Tests" }, { key: "cells", word: "Cells" }];

/** @type {import("../ui/table.js").Column[]} */
const TESTS = [
  { key: "name", label: "Test", show: (row) => html`<a href=${`/explore/tests/${part(row.id)}`}>${row.name}</a>` },
  { key: "cell_instance_name", label: "Cell", show: (row) => html`<a class="quiet-link" href=${`/explore/cells/${part(row.cell_instance_id)}`}>${row.cell_instance_name}</a>` },
  { key: "cell_specification_name", label: "Specification" },
  { key: "batch_name", label: "Batch" },
  moments("start_time", "Began"),
  { key: "sample_count", label: "Samples", number: true },
  { key: "cycle_count", label: "Cycles", number: true },
  { key: "processing_status", label: "State", show: (row) => (row.processing_status === "ready" ? "" : html`<span class="chip">${row.processing_status}</span>`) },
  { key: "tags", label: "Tags", sort: false, show: (row) => (row.tags ?? []).map((/** @type {string} */ tag) => html`<span key=${tag} class="chip">${tag}</span>`), text: (row) => (row.tags ?? []).join(" ") },
];
/** @type {import("../ui/table.js").Column[]} */
const CELLS = [
  { key: "name", label: "Cell", show: (row) => html`<a href=${`/explore/cells/${part(row.id)}`}>${row.name}</a>` },
  { key: "specification_name", label: "Specification", show: (row) => row.specification_name ?? row.cell_specification_name },
  { key: "batch_name", label: "Batch" },
  { key: "date_manufactured", label: "Made" },
  { key: "properties", label: "Properties", sort: false, show: (row) => properties(row.properties), text: (row) => properties(row.properties) },
  { key: "notes", label: "Notes" },
];

/** Properties as words. @param {any} given @returns {string} */
export function properties(given) {
  return Object.entries(given ?? {}).map(([name, value]) => `${name.replaceAll("_", " ")} ${quantity(value)}`).join(", ");
}

/** @param {any} value @returns {string} */
export function quantity(value) {
  if (value && typeof value === "object" && "value" in value) return `${value.value} ${value.unit ?? ""}`.trim();
  return typeof value === "string" ? value : JSON.stringify(value);
}

export default function Explore() {
  const { query: asked } = place.value;
  const all = projects.value ?? [];
  const what = asked.get("what") === "cells" ? "cells" : "tests";
  const project = asked.get("project") ?? all[0]?.id ?? "";
  useTitle(what === "cells" ? "Cells" : "Tests");
  const writes = may(all.find((one) => one.id === project), "write");
  const bring = writes && html`<a class="button main" href=${`/bring-in${query({ project })}`}><${Icon} name="plus" /> Bring in files</a>`;
  return html`
    <div class="head"><div><h1>Explore</h1><p class="soft">What was measured: every cell, every test.</p></div>
      <div class="row">${all.length > 1 && html`<label class="row small" for="of-project"><span class="soft">Project</span><select class="input" id="of-project" style=${{ width: "auto", maxWidth: "240px" }}
        onChange=${(/** @type {any} */ event) => setQuery({ project: event.target.value })}>${project && !all.some((one) => one.id === project) && html`<option value=${project} selected hidden>not here</option>`}${all.map((one) => html`<option key=${one.id} value=${one.id} selected=${one.id === project}>${one.name}</option>`)}</select></label>`}${bring}</div></div>
    <${Tabs} label="What to list" bare gap=${14} tabs=${LISTS} at=${what} choose=${(/** @type {string} */ one) => setQuery({ what: one === "tests" ? null : one, q: null, tag: null })}>
    ${project && (what === "tests" ? html`<${Tests} key=${project} project=${project} bring=${bring} />` : html`<${Cells} key=${project} project=${project} bring=${bring} />`)}
    ${!project && projects.value && html`<${Empty} icon="cell" title="No project yet">Your key has no role in any project. Ask an administrator for one.<//>`}<//>`;
}

/** A search field that writes what is typed into the address. @param {{ label: string }} given */
function Sought({ label }) {
  const present = place.value.query.get("q") ?? "";
  const [text, setText] = useState(present);
  useEffect(() => { setText(present); }, [present]);
  useEffect(() => {
    if (text === present) return undefined;
    const timer = setTimeout(() => setQuery({ q: text || null }, { replace: true }), WAIT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<input class="input filter" type="search" placeholder=${label} aria-label=${label} value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} />`;
}

/** The tests that are chosen in each project, also after a look at one of them. @type {Map<string, Set<string>>} */
const choices = new Map();

/** @param {{ project: string, bring: any }} given */
function Tests({ project, bring }) {
  const [chosen, setChosen] = useState(choices.get(project) ?? new Set());
  choices.set(project, chosen);
  /** @param {string} id */
  const turn = (id) => setChosen((now) => { const next = new Set(now); if (!next.delete(id)) next.add(id); return next; });
  const choosing = { key: "chosen", label: "Chosen", sort: false, show: (/** @type {any} */ row) => html`<input type="checkbox" class="choose" aria-label=${`Choose ${row.name}`} checked=${chosen.has(row.id)} onChange=${() => turn(row.id)} />`, text: () => "" };
  const { query: asked } = place.value;
  const q = asked.get("q") ?? "";
  const tag = asked.get("tag") ?? "";
  const tags = useLoaded((stop) => get(`/cell_measurements/tags${query({ project_id: project, limit: 40 })}`, { signal: stop }), [project]);
  const none = q || tag
    ? html`<${Empty} icon="search" title="Nothing fits">No test has this text or this tag.<//>`
    : html`<${Empty} icon="test" title="No tests yet" action=${bring}>Bring in cycler files, or run workbench ingest on their folder.<//>`;
  return html`<div class="row" style=${{ marginBottom: "12px" }}><${Sought} label="Search the tests" />
      ${(tags.data?.items ?? []).slice(0, 14).map((/** @type {any} */ one) => html`<button key=${one.tag} type="button" class="button slim" aria-pressed=${tag === one.tag} onClick=${() => setQuery({ tag: tag === one.tag ? null : one.tag })}>${one.tag} <span class="count">${one.usage_count}</span></button>`)}</div>
    <div class="spread chosen-bar"><span class="soft" role="status">${chosen.size ? `${many(chosen.size, "test")} chosen` : "Choose tests to answer a question about them alone."}</span>
      <span class="row">${chosen.size > 0 && html`<button type="button" class="button plain slim" onClick=${() => setChosen(new Set())}>Choose none</button>`}
        <a class="button slim" href=${`/explore/gallery/${project}${chosen.size ? `?tests=${[...chosen].join(",")}` : ""}`}><${Icon} name="chart" size=${15} /> ${chosen.size ? `Gallery for ${many(chosen.size, "test")}` : "Gallery for all tests"}</a></span></div>
    <${PagedTable} label="Tests" path="/cell_measurements" filters=${{ project_id: project, q: q.length > 1 ? q : "", cells: "true", tags_all: tag }} columns=${[choosing, ...TESTS]}
      sorts=${{ name: "name", start_time: "start_time" }} empty=${none} filter=${false} />`;
}

/** @param {{ project: string, bring: any }} given */
function Cells({ project, bring }) {
  const { query: asked } = place.value;
  const q = asked.get("q") ?? "";
  const kinds = useLoaded((stop) => everything("/cell_specifications", { project_id: project }, stop), [project]);
  const chosen = asked.get("specification") ?? "";
  const none = q || chosen ? html`<${Empty} icon="search" title="Nothing fits">No cell has this name here.<//>` : html`<${Empty} icon="cell" title="No cells yet" action=${bring}>They appear with the first files that are brought in.<//>`;
  // One specification at a time is sorted and filtered by the server; all of them come as one list.
  const path = chosen ? `/cell_specifications/${part(chosen)}/cell_instances` : `/projects/${part(project)}/records/instances`;
  return html`<div class="row" style=${{ marginBottom: "12px" }}>
      <label class="row small" for="specification"><span class="soft">Specification</span><select class="input" id="specification" style=${{ width: "auto", maxWidth: "280px" }} onChange=${(/** @type {any} */ event) => setQuery({ specification: event.target.value || null, q: null })}>
        <option value="" selected=${!chosen}>All</option>${(kinds.data ?? []).map((one) => html`<option key=${one.id} value=${one.id} selected=${one.id === chosen}>${one.name}</option>`)}</select></label>
      ${chosen && html`<${Sought} label="Search the names" />`}</div>
    <${PagedTable} label="Cells" path=${path} filters=${chosen && q ? { name: `ilike.%${q}%` } : {}} columns=${CELLS} sorts=${chosen ? { name: "name" } : {}} empty=${none} />`;
}
