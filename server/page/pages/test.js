// A test: its curve, its steps and cycles, where it came from, its notes and tags.

import { html, useEffect, useMemo, useState } from "../vendor/preact.js";
import { get, isAbort, part, patch, post } from "../core/api.js";
import { useLoaded, useTitle, useUnsaved } from "../core/load.js";
import { may, projects } from "../core/projects.js";
import { cell, day, many, size, who } from "../core/words.js";
import { LivePlot, draft } from "../plot/live.js";
import { Picture } from "../plot/picture.js";
import { Footer, Trouble } from "../plot/tile.js";
import { download } from "../plot/exports.js";
import { Icon } from "../ui/icons.js";
import { Empty, Failed, Ghosts, focused, say, sayError } from "../ui/parts.js";
import { DataTable } from "../ui/table.js";
import { Tabs } from "../ui/tabs.js";
import { quantity } from "./explore.js";

/** What a file without clock times says of when its test was. */
const UNKNOWN = "not known";

/** @param {{ id: string }} given */
export default function Test({ id }) {
  const found = useLoaded((stop) => get(`/cell_measurements/${part(id)}`, { signal: stop }), [id]);
  useTitle(found.data?.name ?? "Test");
  if (found.error) return html`<${Failed} error=${found.error} again=${found.again} />`;
  if (!found.data) return html`<${Ghosts} rows=${4} height=${90} />`;
  return html`<${Shown} test=${found.data} again=${found.again} />`;
}

/** @param {{ test: any, again: () => void }} given */
function Shown({ test, again }) {
  const at = `/cell_measurements/${part(test.id)}`;
  const writes = may((projects.value ?? []).find((one) => one.id === test.project_id), "write");
  const series = test.measurement_type === "time_series" && test.sample_count > 0;
  const counted = !series && test.cycle_count > 0;  // a table of capacities came without samples
  const tables = useLoaded((stop) => (series ? get(`${at}/steps_and_cycles`, { signal: stop }) : counted ? get(`${at}/cycles`, { signal: stop }).then((made) => ({ ...made, steps: {} })) : Promise.resolve(null)), [test.id, test.updated_at]);
  const findings = test.source?.findings ?? [];
  const [tab, setTab] = useState("Cycles");
  const tabs = ["Cycles", "Steps", "Origin", "Set-up"];
  return html`
    <div class="head"><div><nav class="crumbs" aria-label="Where this is"><a href="/explore">Explore</a><span>/</span><a href=${`/explore?project=${part(test.project_id ?? "")}`}>Tests</a><span>/</span><a href=${`/explore/cells/${part(test.cell_instance_id ?? "")}`}>${test.cell_instance_name}</a></nav>
      <h1>${test.name}</h1><p class="soft">${[day(test.start_time), series ? many(test.sample_count, "sample") : counted ? "table of cycles" : test.measurement_type, test.cycle_count ? many(test.cycle_count, "cycle") : ""].filter(Boolean).join(" · ")}</p></div>
      <div class="row">${(series || counted) && html`<a class="button" href=${`/explore/gallery/${part(test.project_id ?? "")}?tests=${part(test.id)}`}><${Icon} name="chart" /> Gallery</a>`}
        ${series && html`<button type="button" class="button" onClick=${() => download(`${at}/time_series/download`, `${test.name}.parquet`)}><${Icon} name="download" /> Samples (parquet)</button>`}</div></div>
    ${test.processing_error && html`<div class="note wrong" role="alert"><${Icon} name="warn" /><div>${test.processing_error}</div></div>`}
    <div class="single"><aside class="box pad stack"><${Notes} test=${test} writes=${writes} again=${again} /><${Tags} test=${test} writes=${writes} again=${again} />
        <dl class="facts"><dt>Cell</dt><dd><a href=${`/explore/cells/${part(test.cell_instance_id ?? "")}`}>${test.cell_instance_name}</a></dd><dt>Specification</dt><dd>${test.cell_specification_name}</dd>${test.batch_name && html`<dt>Batch</dt><dd>${test.batch_name}</dd>`}
          <dt>Began</dt><dd>${day(test.start_time) || UNKNOWN}</dd><dt>Ended</dt><dd>${day(test.end_time) || (test.start_time ? "still running" : UNKNOWN)}</dd><dt>Arrived</dt><dd>${day(test.created_at)} by ${who(test.created_by_email)}</dd></dl></aside>
      <div class="stack">${series && writes ? html`<${Curve} key=${test.id} test=${test} />` : (series || (counted && tables.data)) && html`<${CycleCurve} tables=${tables.data} name=${test.name} />`}
        <section class="box"><${Tabs} label="Parts of the test" tabs=${tabs.map((one) => ({ key: one, word: one, count: one === "Origin" ? findings.length : 0 }))} at=${tab} choose=${setTab} panel="pad">
            ${(tab === "Cycles" || tab === "Steps") && (tables.error ? html`<${Failed} error=${tables.error} />` : tables.data ? html`<${Table} key=${tab} label=${tab} columns=${tab === "Cycles" ? tables.data.cycles : tables.data.steps} />` : series || counted ? html`<${Ghosts} rows=${3} />` : html`<p class="soft">This record has no samples.</p>`)}
            ${tab === "Origin" && html`<${Origin} test=${test} findings=${findings} at=${at} />`}
            ${tab === "Set-up" && html`<div class="stack"><h3>Protocol</h3><${Facts} given=${test.protocol} /><h3>Set-up</h3><${Facts} given=${test.test_setup} /><h3>Properties</h3><${Facts} given=${test.properties} /></div>`}
          <//></section></div></div>`;
}

/** A table of columns. @param {{ label: string, columns: Record<string, any[]> }} given */
function Table({ label, columns }) {
  const names = Object.keys(columns);
  const rows = useMemo(() => Array.from({ length: columns[names[0]]?.length ?? 0 }, (_, n) => Object.fromEntries([["id", n], ...names.map((name) => [name, columns[name][n]])])), [columns]);
  if (!rows.length) return html`<p class="soft">There are none.</p>`;
  return html`<${DataTable} label=${label} rows=${rows} columns=${names.map((name) => ({ key: name, label: name, number: columns[name].some((one) => typeof one === "number") }))} filter=${false} />`;
}

/** @param {{ given: any }} given */
const Facts = ({ given }) => (Object.keys(given ?? {}).length ? html`<dl class="facts">${Object.entries(given).map(([name, value]) => html`<dt key=${name}>${name.replaceAll("_", " ")}</dt><dd key=${`${name}=`}>${quantity(value)}</dd>`)}</dl>` : html`<p class="soft">Nothing is said.</p>`);

const LEVELS = /** @type {Record<string, string>} */ ({ odd: "wrong", assumed: "", kept: "calm", left_out: "" });

/** Where the numbers came from, and what reading them assumed. @param {{ test: any, findings: any[], at: string }} given */
function Origin({ test, findings, at }) {
  const files = useLoaded((stop) => get(`${at}/files`, { signal: stop }).catch(() => ({ filenames: [] })), [test.id]);
  const source = test.source ?? {};
  return html`<div class="stack"><dl class="facts">
      ${test.file_name && html`<dt>File</dt><dd>${source.folder ? `${source.folder}/` : ""}${test.file_name}${source.size ? ` (${size(source.size)})` : ""}</dd>`}
      ${source.format && html`<dt>Format</dt><dd>${source.format}</dd>`}${source.sha256 && html`<dt>SHA-256</dt><dd><code>${source.sha256}</code></dd>`}
      ${test.content_hash && html`<dt>Samples</dt><dd><code>${test.content_hash}</code></dd>`}</dl>
    ${(files.data?.filenames ?? []).map((/** @type {string} */ name) => html`<div key=${name}><button type="button" class="button slim" onClick=${() => download(`${at}/files/${part(name)}`, name)}><${Icon} name="download" /> ${name}</button></div>`)}
    ${findings.map((one) => html`<div class=${`note ${LEVELS[one.level] ?? ""}`}><${Icon} name=${one.level === "kept" ? "check" : "warn"} /><div><strong>${one.level === "odd" ? "warning" : cell(one.level).replaceAll("_", " ")}</strong> · ${one.message}</div></div>`)}</div>`;
}

/** @param {{ test: any, writes: boolean, again: () => void }} given */
function Notes({ test, writes, again }) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [began, setBegan] = useState("");
  useUnsaved(text !== null && text !== began ? "Leave this test? Its notes are not saved." : "");
  const at = `/cell_measurements/${part(test.id)}`;
  const save = async () => {
    try {
      const present = (await get(at)).notes ?? "";
      if (present !== began) {
        setBegan(present);
        setText(`${text ?? ""}\n\n${present}`);
        say("Somebody else has changed these notes meanwhile: theirs are below yours. Save again when they fit together.", { wrong: true });
        return;
      }
      await patch(at, { notes: text?.trim() || null });
      setText(null);
      say("The notes are saved.");
      again();
    } catch (error) { sayError(error); }
  };
  if (text !== null) {
    return html`<div class="stack"><label class="labelled" for="notes">Notes<textarea class="input" id="notes" rows="5" ref=${focused} value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea></label>
      <div class="row"><button type="button" class="button main slim" onClick=${save}>Save</button><button type="button" class="button slim" onClick=${() => setText(null)}>Cancel</button></div></div>`;
  }
  return html`<div><div class="spread"><h2>Notes</h2>${writes && html`<button type="button" class="button plain slim" onClick=${() => { setBegan(test.notes ?? ""); setText(test.notes ?? ""); }}><${Icon} name="edit" size=${15} /> Edit</button>`}</div>
    <p class=${test.notes ? "break" : "soft"} style=${{ whiteSpace: "pre-wrap" }}>${test.notes ?? "None."}</p></div>`;
}

/** @param {{ test: any, writes: boolean, again: () => void }} given */
function Tags({ test, writes, again }) {
  const [text, setText] = useState("");
  /** Only what changes is sent, so that the tags of others stay. @param {{ add?: string[], remove?: string[] }} change */
  const save = (change) => post("/cell_measurements/tags/bulk", { measurement_ids: [test.id], ...change }).then(() => { setText(""); again(); }, sayError);
  const tags = test.tags ?? [];
  return html`<div class="stack"><h2>Tags</h2><div class="row">${tags.map((/** @type {string} */ tag) => html`<span key=${tag} class="chip">${tag}${writes && html`<button type="button" class="chip-out" aria-label=${`Remove the tag ${tag}`} onClick=${() => save({ remove: [tag] })}><${Icon} name="close" size=${12} /></button>`}</span>`)}${!tags.length && html`<span class="soft">None.</span>`}</div>
    ${writes && html`<form class="row" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); if (text.trim() && !tags.includes(text.trim())) save({ add: [text.trim()] }); }}>
      <input class="input" style=${{ flex: 1, minWidth: "90px" }} aria-label="New tag" placeholder="New tag" maxlength="100" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} /><button class="button slim">Add</button></form>`}</div>`;
}

/** The recipe of a test's curve. @param {any} test */
export const curveOf = (test) => ({
  plan: { steps: {
    test: { op: "list", source: "measurements", where: { measurementIds: [test.id] }, fields: ["id", "name"] },
    samples: { op: "series", source: "measurements", ids: { from: "test", column: "id" }, x: "Time [s]", columns: ["Voltage [V]", "Current [A]"], max_points: 4000 },
  } },
  transform: `from plotly.subplots import make_subplots


def transform(data, params):
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.62, 0.38])
    unit, length = "s", 1
    for samples in data["samples"].values():
        lasts = samples["Time [s]"].max()
        unit, length = ("s", 1) if not lasts > 7200 else ("h", 3600) if lasts <= 864000 else ("d", 86400)
        for row, column, color in ((1, "Voltage [V]", "#1d4ed8"), (2, "Current [A]", "#b45309")):
            line = {"color": color, "width": 1.4}
            fig.add_trace(go.Scatter(x=samples["Time [s]"] / length, y=samples[column], name=column, line=line), row=row, col=1)
    fig.update_yaxes(title_text="Voltage / V", row=1, col=1)
    fig.update_yaxes(title_text="Current / A", row=2, col=1)
    fig.update_xaxes(title_text=f"Time / {unit}", row=2, col=1)
    fig.update_layout(template="plotly_white", showlegend=False, margin={"t": 34, "r": 20, "l": 60, "b": 50})
    return fig
`,
  params: {},
});

/** The recipe of the impedance of a test: each loop is a curve. @param {any} test */
export const spectraOf = (test) => ({
  plan: { steps: {
    test: { op: "list", source: "measurements", where: { measurementIds: [test.id] }, fields: ["id", "name"] },
    samples: { op: "series", source: "measurements", ids: { from: "test", column: "id" }, x: "Frequency [Hz]", columns: ["Z_Re [Ohm]", "Z_Im [Ohm]", "Cycle count"], max_points: 4000 },
  } },
  transform: `from workbench import battery


def transform(data, params):
    fig = go.Figure()
    for samples in data["samples"].values():
        loops = list(samples.dropna(subset=["Z_Re [Ohm]"]).groupby("Cycle count"))
        for color, (loop, spectrum) in zip(battery.sequential(len(loops)), loops):
            fig.add_trace(battery.nyquist_trace(spectrum, f"loop {loop + 1}", color))
    fig.update_layout(template="plotly_white", showlegend=1 < len(fig.data) <= 12, margin={"t": 34, "r": 20, "l": 60, "b": 50})
    return fig.update_layout(**battery.nyquist_layout())
`,
  params: {},
});

const IMPEDANCE = /^(eis|peis|geis|impedance)$/i;

/** Voltage and current over time; of a test of impedance its spectra. A spectrum may have neither time nor voltage.
 * @param {any} test @returns {import("../plot/live.js").Source} */
function curve(test) {
  const plain = draft(test.project_id, () => curveOf(test));
  const spectra = draft(test.project_id, () => spectraOf(test));
  let drawn = (test.tags ?? []).some((/** @type {string} */ tag) => IMPEDANCE.test(tag)) ? spectra : plain;
  return {
    figure: async (values, stop) => {
      const answer = await drawn.figure(values, stop).catch((error) => {
        if (drawn === plain || isAbort(error)) throw error;
        return null;  // the tag says impedance, and the samples have none
      });
      if (answer && !answer.hints?.some((hint) => /** @type {any} */ (hint).code === "nothing_drawn")) return answer;
      const other = drawn === plain ? spectra : plain;
      const found = await other.figure(values, stop).catch((error) => { if (!answer || isAbort(error)) throw error; return answer; });
      if (found !== answer) drawn = other;
      return found;
    },
    detail: (asked, values) => drawn.detail(asked, values),
  };
}

/** @param {{ test: any }} given */
function Curve({ test }) {
  const live = useMemo(() => new LivePlot({ id: test.id, name: `Curve of ${test.name}`, source: curve(test) }), [test.id]);
  useEffect(() => { live.start(); return () => live.close(); }, [live]);
  return html`<article class="box tile" aria-label="Curve" data-state=${live.error.value ? "failed" : live.answer.value ? "drawn" : "waiting"} style=${{ height: "440px" }}><${Picture} live=${live} /><${Trouble} live=${live} /><${Footer} live=${live} /></article>`;
}

/** For whoever may not run recipes: the capacity of each cycle. @param {{ tables: any, name: string }} given */
function CycleCurve({ tables, name }) {
  const cycles = tables?.cycles ?? {};
  const column = ["Discharge capacity [A.h]", "Charge capacity [A.h]"].find((one) => cycles[one]?.some((/** @type {any} */ value) => value !== null));
  const live = useMemo(() => {
    if (!column) return null;
    const figure = { data: [{ type: "scatter", mode: "lines+markers", name: column, x: cycles["Cycle count"], y: cycles[column], marker: { size: 4 } }], layout: { xaxis: { title: { text: "Cycle count" } }, yaxis: { title: { text: column } }, margin: { t: 34, r: 20, l: 60, b: 56 } } };
    return new LivePlot({ id: name, name: `Cycles of ${name}`, source: { figure: async () => ({ figure, values: {}, controls: [], content: "", warnings: [], log: "", traces: [], cache: {}, reads: {}, timings: {} }), detail: async () => ({ traces: {} }) } });
  }, [tables]);
  useEffect(() => { live?.start(); return () => live?.close(); }, [live]);
  if (!live) return html`<${Empty} icon="chart" title="No curve">Whoever may write in this project sees the samples here.<//>`;
  return html`<article class="box tile" aria-label="Curve" style=${{ height: "400px" }}><${Picture} live=${live} /></article>`;
}
