// Bringing in cycler files: drop them, say what is known of them, watch, and read the report.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { ask, get, isAbort, part, post, query } from "../core/api.js";
import { useTitle, useUnsaved } from "../core/load.js";
import { may, projects } from "../core/projects.js";
import { place } from "../core/router.js";
import { count, many, size } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { Empty, sayError } from "../ui/parts.js";

const MOST_FILES = 10_000;
const ASK_MS = 700;
/** What may be said of the files: option, label, hint. */
const OPTIONS = [
  ["specification", "Specification", "One for all these files. Without it: each cell gets one, with ratings estimated from its files."],
  ["rating", "Ratings", "Of a new specification, such as 5Ah,2.5V,4.2V."],
  ["batch", "Batch", "May be left out."],
  ["instance", "Cell", "If all files are of one cell. Without it: from the file names."],
  ["zone", "Time zone", "Of clock times that name none, such as Europe/Berlin."],
  ["format", "Format", "Only where it is not recognised, such as maccor."],
];
/** What may be chosen: option, label, and each value with its words. @type {[string, string, [string, string][]][]} */
const CHOICES = [
  ["sign", "Positive current", [["", "as the file says"], ["discharge", "discharge is positive"], ["charge", "charge is positive"], ["unsigned", "without a sign"]]],
  ["cycles", "Cycles", [["", "the file's if they rise"], ["file", "the file's numbers"], ["count", "counted from half cycles"]]],
  ["repair", "Repair", [["", "nothing"], ["time", "a clock that jumps back"]]],
];
const MAP = "column_map";

/** The lines of a text such as `Volts = Voltage [V]`, each as what is before and after its last `=`. @param {string} text */
const pairsOf = (text) => text.split("\n").filter((line) => line.trim()).map((line) => [line.slice(0, Math.max(line.lastIndexOf("="), 0)).trim(), line.slice(line.lastIndexOf("=") + 1).trim()]);

const LABELS = new Map([...OPTIONS, ...CHOICES].map(([key, label]) => /** @type {[string, string]} */ ([key, label])));

/** A sentence of the report, with the fields of this page where it spells options of Python. @param {string} text */
function withFields(text) {
  return text
    .replace(/column_map=(\{(?:"(?:[^"\\]|\\.)*"(?:: |, )?)+\})/g, (_, map) => `“Columns” ${Object.entries(JSON.parse(map)).map(([theirs, ours]) => `${theirs} = ${ours}`).join(", ")}`)
    .replace(/\b(\w+)="([^"]*)"/g, (all, key, value) => (LABELS.has(key) ? `“${LABELS.get(key)}” ${CHOICES.find(([one]) => one === key)?.[2].find(([one]) => one === value)?.[1] ?? value}` : all))
    .replace("sheet: a column 'rating'; rating if", "“Ratings”, if");
}

export default function BringIn() {
  useTitle("Bring in files");
  const all = (projects.value ?? []).filter((one) => may(one, "write"));
  const [project, setProject] = useState(place.peek().query.get("project") ?? "");
  const chosen = project || all[0]?.id || "";
  const [files, setFiles] = useState(/** @type {File[]} */ ([]));
  const [options, setOptions] = useState(/** @type {Record<string, string>} */ ({}));
  const [over, setOver] = useState(false);
  const [state, setState] = useState(/** @type {any} */ (null));
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  const stop = useRef(/** @type {AbortController | null} */ (null));
  const running = state && !state.report && !state.error;
  const tooMany = Math.max(0, files.length - MOST_FILES);
  useUnsaved(running ? "Leave? Files that are not sent yet are not brought in." : "");
  useEffect(() => () => stop.current?.abort(), []);
  if (projects.value && !all.length) return html`<${Empty} icon="file" title="You can look, not add">Your role does not allow to bring in files. Ask an administrator of the project.<//>`;

  /** Take files, each once: two of one name and size may be of two folders. @param {FileList | null | undefined} given */
  const add = (given) => setFiles((now) => [...now, ...[...(given ?? [])].filter((one) => !now.some((other) => other.name === one.name && other.size === one.size && other.lastModified === one.lastModified))]);

  const begin = async () => {
    const map = pairsOf(options[MAP] ?? "");
    const odd = map.find(([theirs]) => !theirs);
    if (odd) return setState({ error: `"${odd[1]}" names no column of the file. Write each line as: their column = Voltage [V]` });
    const turn = (stop.current = new AbortController());
    const at = `/projects/${part(chosen)}/ingests`;
    try {
      const said = Object.fromEntries(Object.entries(options).filter(([, value]) => value.trim()).map(([key, value]) => [key, key === MAP ? Object.fromEntries(map) : key === "repair" ? [value] : value.trim()]));
      const ids = [];
      for (const [n, file] of files.entries()) {
        setState({ text: `Sending ${file.name}`, done: n, of: files.length });
        const kept = await (await ask(`${at}/files${query({ name: file.name })}`, { method: "POST", file, signal: turn.signal })).json();
        ids.push(kept.file);
      }
      let run = await post(at, { files: ids, options: said }, { signal: turn.signal });
      while (run.state === "running") {
        setState({ text: run.at ? `Reading ${run.at}` : "Reading", done: run.done, of: run.of });
        await new Promise((done) => setTimeout(done, ASK_MS));
        run = await get(`${at}/${part(run.id)}`, { signal: turn.signal });
      }
      setState(run.state === "done" ? { report: run.report } : { error: run.error ?? "The run failed." });
      if (run.state === "done") {
        const refused = new Set(run.report.files.filter((/** @type {any} */ one) => one.status === "refused").map((/** @type {any} */ one) => one.path));
        setFiles(files.filter((one) => refused.has(one.name)));  // what they lack can be said, and they are sent again
      }
    } catch (error) {
      if (isAbort(error)) return;
      sayError(error);
      setState({ error: /** @type {Error} */ (error).message });
    }
  };

  return html`
    <div class="head"><div><h1>Bring in files</h1><p class="soft">Cycler files of any brand that is known here. What is assumed, repaired or refused is in the report.</p></div></div>
    ${!running && html`<div class=${`drop ${over ? "over" : ""}`} onDragOver=${(/** @type {DragEvent} */ event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)}
        onDrop=${(/** @type {DragEvent} */ event) => { event.preventDefault(); setOver(false); add(event.dataTransfer?.files); setState(null); }}>
      <${Icon} name="file" size=${34} /><div><strong>Drop files here</strong> <span class="soft">or</span></div>
      <button type="button" class="button" onClick=${() => picker.current?.click()}>Choose files</button>
      <input ref=${picker} type="file" multiple class="unseen" tabindex="-1" aria-label="Files" onChange=${(/** @type {any} */ event) => { add(event.target.files); event.target.value = ""; setState(null); }} /></div>`}
    ${files.length > 0 && !running && html`<div class="box pad stack" style=${{ marginTop: "14px" }}>
      <div class="spread"><h2>${many(files.length, "file")}, ${size(files.reduce((sum, one) => sum + one.size, 0))}</h2><button type="button" class="button plain slim" onClick=${() => setFiles([])}>Take all away</button></div>
      <ul class="files">${files.slice(0, 200).map((one, n) => html`<li key=${n}><span class="one-line">${one.name}</span><span class="soft small">${size(one.size)}</span><button type="button" class="button plain slim icon" aria-label=${`Take ${one.name} away`} onClick=${() => setFiles(files.filter((_, m) => m !== n))}><${Icon} name="close" size=${14} /></button></li>`)}</ul>
      ${files.length > 200 && html`<p class="soft small">and ${count(files.length - 200)} more</p>`}
      <h2>What is known of them</h2><div class="controls across">
        ${all.length > 1 && html`<label class="labelled" for="into">Project<select class="input" id="into" onChange=${(/** @type {any} */ event) => setProject(event.target.value)}>${all.map((one) => html`<option key=${one.id} value=${one.id} selected=${one.id === chosen}>${one.name}</option>`)}</select></label>`}
        ${OPTIONS.map(([key, label, hint]) => html`<label key=${key} class="labelled" for=${`say-${key}`}>${label}<input class="input" id=${`say-${key}`} value=${options[key] ?? ""} onInput=${(/** @type {any} */ event) => setOptions({ ...options, [key]: event.target.value })} /><span class="soft small">${hint}</span></label>`)}
        ${CHOICES.map(([key, label, words]) => html`<label key=${key} class="labelled" for=${`say-${key}`}>${label}<select class="input" id=${`say-${key}`} onChange=${(/** @type {any} */ event) => setOptions({ ...options, [key]: event.target.value })}>${words.map(([value, word]) => html`<option key=${value} value=${value} selected=${value === (options[key] ?? "")}>${word}</option>`)}</select></label>`)}
        <label class="labelled" for="say-columns">Columns<textarea class="input" id="say-columns" rows="2" placeholder="Volts = Voltage [V]" value=${options[MAP] ?? ""} onInput=${(/** @type {any} */ event) => setOptions({ ...options, [MAP]: event.target.value })}></textarea><span class="soft small">What columns of the files are, one a line, where the report asks for it.</span></label></div>
      ${tooMany > 0 && html`<div class="hint wrong" role="alert">At most ${many(MOST_FILES, "file")} at a time. Take ${many(tooMany, "file")} away.</div>`}
      <div><button type="button" class="button main" disabled=${tooMany > 0} onClick=${begin}>Bring in ${many(files.length, "file")}</button></div></div>`}
    ${running && html`<div class="box pad stack" role="status"><strong class="break">${state.text} …</strong><progress max=${state.of || 1} value=${state.done} aria-label="Progress"></progress><span class="soft small">${state.done} of ${state.of}</span></div>`}
    ${state?.error && html`<div class="note wrong" role="alert" style=${{ marginTop: "14px" }}><${Icon} name="warn" /><div>${state.error}</div></div>`}
    ${state?.report && html`<${Report} report=${state.report} />`}`;
}

const KINDS = /** @type {const} */ ([["odd", "warning", ""], ["assumed", "assumed", ""], ["repaired", "repaired", ""], ["kept", "kept", "calm"], ["created", "made", "good"]]);

/** What became of each file. @param {{ report: any }} given */
function Report({ report }) {
  const open = (report.assumptions ?? []).filter((/** @type {any} */ one) => one["settled by"] && !one["settled by"].startsWith("nothing"));
  return html`<section class="stack" aria-label="Report" style=${{ marginTop: "16px" }}>
    <div class=${`note ${report.ok ? "good" : ""}`} role="status"><${Icon} name=${report.ok ? "check" : "warn"} /><strong>${report.summary}</strong></div>
    ${open.length > 0 && html`<div class="box pad stack"><h2>To settle</h2><p class="soft small">Choose the files again, say it below them, and bring them in once more: nothing is stored twice.</p><ul class="plain-list">${open.map((/** @type {any} */ one) => html`<li><div class="break">${withFields(one.example)}</div><div class="soft small">${many(one.files, "file")}. Settle it by: <span class="break">${withFields(one["settled by"])}</span></div></li>`)}</ul></div>`}
    ${report.files.map((/** @type {any} */ one) => html`<div class="box file-report"><details open=${one.status === "refused"}><summary><span class=${`chip ${one.status}`}>${one.status}</span><strong class="break">${one.path}</strong>
        <span class="soft small">${one.rows ? `${one.format}, ${many(one.rows, "row")}, ${many(one.cycles, "cycle")}` : ""}</span></summary>
      <div class="pad stack">${one.why && html`<p class="break">${withFields(one.why)}</p>`}
        ${KINDS.map(([key, word, kind]) => (one[key] ?? []).map((/** @type {string} */ text) => html`<div class=${`note ${kind}`}><div><strong>${word}</strong> · ${withFields(text)}</div></div>`))}</div></details>
      ${one.measurement_id && html`<a href=${`/explore/tests/${part(one.measurement_id)}`}>Open the test<span class="unseen"> ${one.path}</span></a>`}</div>`)}</section>`;
}
