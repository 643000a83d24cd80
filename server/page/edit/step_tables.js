// The rows that each step of the plan gives.

import { html, useState } from "../vendor/preact.js";
import { part, post } from "../core/api.js";
import { useLoaded } from "../core/load.js";
import { many } from "../core/words.js";
import { Failed, Ghosts } from "../ui/parts.js";
import { DataTable } from "../ui/table.js";

const MOST = 5000;

/** The rows of a step: records as they are, series as samples with the id of their source. @param {any} step @returns {any[]} */
function rowsOf(step) {
  if (Array.isArray(step)) return step.slice(0, MOST);
  const rows = [];
  for (const [id, series] of Object.entries(step ?? {})) {
    /** @type {[string, any[]][]} */
    const columns = Object.entries(/** @type {any} */ (series).columns ?? {});
    const length = columns[0]?.[1].length ?? 0;
    for (let n = 0; n < length && rows.length < MOST; n++) rows.push(Object.fromEntries([["source", id], ...columns.map(([name, values]) => [name, values[n]])]));
  }
  return rows;
}

/** Of the values that the draft is drawn with. @param {{ project: string, config: any, values: Record<string, any> }} given */
export function StepTables({ project, config, values }) {
  const [at, setAt] = useState("");
  const found = useLoaded((stop) => (config ? post(`/projects/${part(project)}/datasets`, { config: { plan: config.plan, params: config.params }, values }, { signal: stop }) : Promise.resolve(null)), [project, config?.plan, config?.params, values]);
  if (!config) return html`<p class="soft">Solve the problems of the recipe first.</p>`;
  if (found.error) return html`<${Failed} error=${found.error} again=${found.again} />`;
  if (!found.data) return html`<${Ghosts} rows=${4} height=${30} />`;
  const names = Object.keys(found.data.steps);
  const name = names.includes(at) ? at : names.at(-1) ?? "";
  const given = rowsOf(found.data.steps[name]);
  const rows = given.map((row, n) => ({ ...row, id: row.id ?? n }));
  const columns = [...new Set(given.slice(0, 50).flatMap((row) => Object.keys(row)))].map((key) => ({ key, label: key, number: rows.some((row) => typeof row[key] === "number") }));
  return html`<div class="stack"><label class="row" for="step">Step <select class="input" id="step" style=${{ width: "auto" }} onChange=${(/** @type {any} */ event) => setAt(event.target.value)}>${names.map((one) => html`<option key=${one} value=${one} selected=${one === name}>${one}</option>`)}</select>
      <span class="soft small">${rows.length >= MOST ? `the first ${many(MOST, "row")}` : many(rows.length, "row")}</span></label>
    ${rows.length ? html`<${DataTable} key=${name} label=${`Rows of ${name}`} columns=${columns} rows=${rows} height=${380} />` : html`<p class="soft">This step gave no rows.</p>`}</div>`;
}
