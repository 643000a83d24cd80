// The editor of a plot: its recipe as texts with checking as one types, the picture of the draft, saving and comparing.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { Refused, get, isAbort, part, patch, post } from "../core/api.js";
import { useLoaded, useTitle, useUnsaved } from "../core/load.js";
import { may, projects, readProjects } from "../core/projects.js";
import { go, leaving, place, readValues, setQuery } from "../core/router.js";
import { many } from "../core/words.js";
import { ControlPanel } from "../controls/panel.js";
import { Editor } from "../edit/editor.js";
import { FromSentence } from "../edit/from_sentence.js";
import { PARTS, PART_NAMES, configOf, lineOf, partOf, proposed, spanOf, textsOf } from "../edit/texts.js";
import { Compare, ConflictDialog } from "../edit/compare.js";
import { StepTables } from "../edit/step_tables.js";
import { LivePlot, controlCount, draft, plotPath } from "../plot/live.js";
import { Picture } from "../plot/picture.js";
import { Footer, Trouble } from "../plot/tile.js";
import { Icon } from "../ui/icons.js";
import { Empty, Failed, Ghost, say, sayError } from "../ui/parts.js";
import { Tabs } from "../ui/tabs.js";

const CHECK_MS = 300;
const SIDES = [{ key: "picture", word: "Picture" }, { key: "tables", word: "Tables of the steps" }];

/** A new id; `crypto.randomUUID` is not there on a page without https. */
function newId() {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((one, n) => (n === 6 ? (one & 15) | 64 : n === 8 ? (one & 63) | 128 : one).toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

/** What a new plot begins with. */
const BEGINNING = {
  plan: { steps: {
    tests: { op: "list", source: "measurements", fields: ["id", "name", "instance_name"], limit: 20 },
    cycles: { op: "summary", dataset: "cycles", ids: { from: "tests", column: "id" }, columns: ["Cycle count", "Discharge capacity [A.h]", "Complete"] },
    fade: { op: "join", left: "tests", right: "cycles", on: { left: "id", right: "measurement_id" }, where: { Complete: [true, null] } },
  } },
  transform: `from workbench import battery

def transform(data, params):
    fade = data["fade"]
    if fade.empty:
        return battery.message("No test has cycles yet. Bring in files, or choose another source in the plan.")
    y = "Discharge capacity [A.h]"
    figure = px.line(fade, x="Cycle count", y=y, color="instance_name", line_group="id", template=battery.template())
    return figure.update_layout(yaxis_title=battery.axis_title(y), legend=battery.legend(title={"text": "Cell"}))
`,
  params: {},
};

/** @param {{ project: string, board: string, plot?: string }} given */
export default function Edit({ project, board, plot }) {
  const found = useLoaded(async (stop) => {
    const all = await readProjects();
    const at = `/projects/${part(project)}/dashboards/${part(board)}`;
    const [home, record] = await Promise.all([get(at, { signal: stop }), plot ? get(plotPath(project, board, plot), { signal: stop }) : null]);
    return { home, record, writes: may(all.find((one) => one.id === project), "write") };
  }, [project, board, plot]);
  useTitle(found.data?.record ? `Edit ${found.data.record.name}` : "New plot");
  if (found.error) return html`<${Failed} error=${found.error} again=${found.again} />`;
  if (!found.data) return html`<${Ghost} height=${560} />`;
  if (!found.data.writes) {
    return html`<${Empty} icon="edit" title="You can look, not change" action=${html`<a class="button" href=${`/boards/${project}/${board}`}>To the dashboard</a>`}>Your role in this project does not allow to change plots. Ask an administrator of the project.<//>`;
  }
  return html`<${Desk} project=${project} home=${found.data.home} record=${found.data.record} projects=${projects.value} />`;
}

/** @param {{ project: string, home: any, record: any }} given */
function Desk({ project, home, record: opened }) {
  const [record, setRecord] = useState(opened);
  const [name, setName] = useState(opened?.name ?? "");
  const [texts, setTexts] = useState(() => textsOf(opened?.config ?? BEGINNING));
  const newest = useRef(texts);
  newest.current = texts;
  const [version, setVersion] = useState(0);
  /** Put texts into the editor. @param {import("../edit/texts.js").Texts} given */
  const put = (given) => { setTexts(given); setVersion((now) => now + 1); };
  const [problems, setProblems] = useState(/** @type {import("../edit/texts.js").Problem[]} */ ([]));
  const [checked, setChecked] = useState(false);
  const [at, setAt] = useState(/** @type {import("../edit/texts.js").Part} */ ("transform"));
  const [busy, setBusy] = useState(false);
  const [note, setNote] = useState("");
  const [conflict, setConflict] = useState(/** @type {any} */ (null));
  const [side, setSide] = useState("picture");
  /** The draft of an author that is in the editor, with the session that keeps it. */
  const written = useRef(/** @type {{ texts: import("../edit/texts.js").Texts, session: string, draft: import("../edit/from_sentence.js").Draft } | null} */ (null));
  const named = useRef("");
  const rest = useMemo(() => { const { transform, plan, params, ...more } = record?.config ?? {}; return more; }, [record]);
  const config = useRef(/** @type {any} */ (record?.config ?? BEGINNING));
  const saved = useMemo(() => textsOf(record?.config ?? BEGINNING), [record]);
  const changed = PARTS.some((one) => texts[one] !== saved[one]) || name !== (record?.name ?? "");
  const live = useMemo(() => new LivePlot({ id: record?.id ?? "draft", name: name || "Draft", source: draft(project, () => config.current), chosen: readValues(place.peek().query.get("values")) ?? {} }), []);
  const catalog = useLoaded((stop) => get(`/projects/${part(project)}/catalog`, { signal: stop }), [project]);
  const base = `/boards/${project}/${home.id}`;
  const compare = Number(place.value.query.get("compare")) || null;
  useEffect(() => () => live.close(), []);

  useUnsaved(changed ? "Leave the editor? What you changed is not saved." : "");

  useEffect(() => {
    setChecked(false);
    const read = configOf(texts, rest);
    if (read.problem) { setProblems([read.problem]); return undefined; }
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { problems: found } = await post(`/projects/${part(project)}/recipes/check`, { config: read.config, values: {} }, { signal: stop.signal });
        setProblems(found);
        setChecked(true);
        config.current = read.config;
        live.defaults = Object.fromEntries(Object.entries(read.config.params).map(([key, one]) => [key, /** @type {any} */ (one).default ?? null]));
        if (!found.length) live.draw();
      } catch (error) {
        if (!isAbort(error)) setProblems(Array.isArray(/** @type {any} */ (error).detail) ? /** @type {any} */ (error).detail : [{ loc: [], msg: /** @type {Error} */ (error).message, type: "server" }]);
      }
    }, CHECK_MS);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [texts, rest]);

  const marks = useMemo(() => problems.filter((one) => partOf(one) === at).map((one) => {
    const [from, to] = spanOf(one, texts[at]);
    const better = proposed(one);
    return { from, to, severity: /** @type {const} */ ("error"), message: one.msg, actions: better ? [{ name: `Use ${better}`, apply: () => repair(one) }] : [] };
  }), [problems, at, texts]);

  /** Put the proposed name in the place of the wrong one. @param {import("../edit/texts.js").Problem} problem */
  const repair = (problem) => {
    const better = proposed(problem);
    const where = partOf(problem);
    const text = texts[where];
    const [from, to] = spanOf(problem, text);
    const wrong = /^'([^']+)'/.exec(problem.msg)?.[1] ?? /'([^']+)'/.exec(problem.msg)?.[1];
    const inside = wrong ? text.slice(from, to).indexOf(wrong) : -1;
    if (!better || !wrong || inside < 0) return say("The place of this name was not found. Change it by hand.", { wrong: true });
    put({ ...texts, [where]: text.slice(0, from + inside) + better + text.slice(from + inside + wrong.length) });
  };

  const words = () => {
    const sources = catalog.data?.sources ?? [];
    const made = new Map(sources.map((/** @type {any} */ one) => [one.source, one.meaning]));
    for (const one of sources) for (const column of [...(one.columns ?? []), ...Object.values(one.datasets ?? {}).flatMap((/** @type {any} */ d) => d.columns ?? d ?? [])]) if (column?.name) made.set(column.name, column.meaning ?? "");
    return [...made].map(([label, detail]) => ({ label, detail: String(detail ?? "").slice(0, 60) }));
  };

  /** What a wish would change: nothing if this is a new plot as it begins. */
  const given = () => {
    const { config: now } = configOf(texts, rest);
    return now && (record || changed) ? { name: name.trim() || "Draft", config: now } : null;
  };
  /** Put the draft of an author into the editor. @param {import("../edit/from_sentence.js").Taken} taken */
  const take = ({ draft: taken, session }) => {
    const made = textsOf(taken.config);
    written.current = session ? { texts: made, session, draft: taken } : null;
    // A name that somebody typed stays; that of an earlier draft goes with it.
    if (!record && (!name.trim() || name === named.current)) setName(taken.name);
    named.current = taken.name;
    put(made);
  };
  /** Accept the draft of an author as it came: so the plot knows its session. Null if it was changed by hand. @param {number} revision */
  const accepted = async (revision) => {
    const from = written.current;
    if (!from || note.trim() || PARTS.some((one) => texts[one] !== from.texts[one])) return null;
    if (record && (await get(plotPath(project, home.id, record.id))).revision !== revision) throw new Refused(409, "", "Somebody else saved meanwhile.");
    const target = record ? { plot_id: record.id } : { new_plot_id: newId() };
    // The newest draft of the session is saved: that may be of another author of this plot, or one that was not sound.
    await post(`/agent/sessions/${part(from.session)}/messages`, { role: "user", content: { text: "Accept", parts: [{ type: "draft", draft: from.draft }] } });
    return post(`/projects/${part(project)}/dashboards/${part(home.id)}/authoring-decision`, { name: name.trim(), session_id: from.session, only_newest: true, ...target });
  };

  /** @param {number} [revision] the revision that the change starts from */
  const save = async (revision = record?.revision) => {
    const read = configOf(texts, rest);
    if (!read.config) return;
    setBusy(true);
    try {
      const made = await accepted(revision) ?? (record
        ? await patch(plotPath(project, home.id, record.id), { revision, config: read.config, ...(note.trim() ? { note: note.trim() } : {}), ...(name !== record.name ? { name: name.trim() } : {}) })
        : await post(`/projects/${part(project)}/dashboards/${part(home.id)}/plots`, { name: name.trim(), config: read.config }));
      written.current = null;
      setConflict(null);
      setNote("");
      setRecord(made);
      const kept = textsOf(made.config);
      // What was typed while it was saved stays, and is not saved yet.
      const typed = PARTS.filter((one) => newest.current[one] !== texts[one]);
      put(Object.assign(kept, Object.fromEntries(typed.map((one) => [one, newest.current[one]]))));
      setName((/** @type {string} */ now) => (now === name ? made.name : now));
      say(record ? `Saved as revision ${made.revision}.` : "The plot is saved.");
      if (!record) { if (!typed.length) leaving.ask = null; go(`${base}/plots/${made.id}`); }
    } catch (error) {
      const unsound = error instanceof Refused ? error.detail?.problems : null;
      if (unsound) { setProblems(unsound); sayError(error); } // the draft is not sound any more, since the data changed
      else if (error instanceof Refused && error.status === 409 && record) {
        const theirs = await get(plotPath(project, home.id, record.id));
        setConflict({ ...theirs, saved: await get(`${plotPath(project, home.id, record.id)}/revisions/${theirs.revision}`) });
      }
      else if (error instanceof Refused && Array.isArray(error.detail)) { setProblems(error.detail); sayError(error); }
      else sayError(error);
    } finally {
      setBusy(false);
    }
  };
  const copy = async () => {
    const read = configOf(texts, rest);
    const made = await post(`/projects/${part(project)}/dashboards/${part(home.id)}/plots`, { name: `${name} (copy)`, config: read.config }).catch(sayError);
    if (made) { leaving.ask = null; go(`${base}/plots/${made.id}/edit`); }
  };
  const ready = !busy && !problems.length && name.trim() && (!record || changed);
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const keys = (event) => { if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") { event.preventDefault(); if (ready) save(); } };
    addEventListener("keydown", keys); // wherever the focus is, else the browser would save its page
    return () => removeEventListener("keydown", keys);
  });

  return html`<div>
    <div class="head"><div><nav class="crumbs" aria-label="Where this is"><a href="/">Boards</a><span>/</span><a href=${base}>${home.name}</a>${record && html`<span>/</span><a href=${`${base}/plots/${record.id}`}>${record.name}</a>`}</nav>
      <h1 class="unseen">${record ? `Edit ${record.name}` : "New plot"}</h1><input class="input title" aria-label="Name of the plot" placeholder="Name of the new plot" maxlength="500" value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></div>
      <div class="row"><span class="soft small" role="status">${problems.length ? many(problems.length, "problem") : !checked ? "Checking …" : live.error.value ? "It cannot be drawn" : name.trim() ? "No problems" : "Give the plot a name to save it"}${changed ? " · not saved" : ""}</span>
        ${record && record.revision > 1 && html`<button type="button" class="button" onClick=${() => setQuery({ compare: compare ? null : String(record.revision - 1) })}><${Icon} name="history" /> Compare</button>`}
        ${record && changed && html`<input class="input note-field" aria-label="What changed, in a few words" placeholder="What changed?" maxlength="500" value=${note} onInput=${(/** @type {any} */ event) => setNote(event.target.value)} />`}
        <button type="button" class="button main" disabled=${!ready} onClick=${() => save()}>${record ? `Save as revision ${record.revision + 1}` : "Save"}</button></div></div>
    ${compare && record && html`<${Compare} project=${project} home=${home} record=${record} number=${compare} texts=${texts} take=${(/** @type {any} */ other) => put(textsOf(other))} />`}
    <${FromSentence} project=${project} board=${home.id} record=${record} isSaved=${record !== null && !changed} given=${given} take=${take} />
    <div class="desk"><section class="box desk-side" aria-label="The recipe">
        <${Tabs} label="Parts of the recipe" bare at=${at} choose=${setAt} tabs=${PARTS.map((one) => ({ key: one, word: PART_NAMES[one], wrong: true, count: problems.filter((p) => partOf(p) === one).length }))}>
        <${Editor} key=${at} text=${texts[at]} version=${version} language=${at === "transform" ? "python" : "json"} label=${`${PART_NAMES[at]} of the recipe. Escape, then Tab, leaves the editor.`} marks=${marks} words=${words} onText=${(/** @type {string} */ text) => setTexts((now) => (now[at] === text ? now : { ...now, [at]: text }))} /><//>
        ${problems.length > 0 && html`<ul class="problems" aria-label="Problems">${problems.map((one) => { const where = partOf(one); const better = proposed(one); return html`<li>
          <button type="button" class="button plain slim" onClick=${() => setAt(where)}>${PART_NAMES[where]} ${lineOf(texts[where], spanOf(one, texts[where])[0])}</button><span class="break">${one.msg}</span>
          ${better && html`<button type="button" class="button slim" onClick=${() => repair(one)}>Use “${better}”</button>`}</li>`; })}</ul>`}
      </section>
      <section class="desk-side stack" aria-label="The draft">
        <div class="box"><${Tabs} label="The draft" bare at=${side} choose=${setSide} tabs=${SIDES}>
          ${side === "tables" ? html`<div class="pad"><${StepTables} project=${project} config=${problems.length ? null : config.current} values=${live.chosen.value} /></div>`
            : html`<article class="tile draft" aria-label="Draft" data-state=${live.error.value ? "failed" : live.answer.value ? "drawn" : "waiting"}><${Picture} live=${live} /><${Trouble} live=${live} /><${Footer} live=${live} /></article>`}<//></div>
        ${controlCount(live) > 0 && html`<div class="box pad"><${ControlPanel} live=${live} prefix="draft" across /></div>`}
        ${live.answer.value?.log && html`<div class="box pad"><h2>Log</h2><pre class="log" tabindex="0">${live.answer.value.log}</pre></div>`}
      </section></div>
    ${conflict && html`<${ConflictDialog} theirs=${conflict} mine=${texts} close=${() => setConflict(null)} takeMine=${() => save(conflict.revision)} keepBoth=${copy}
      takeTheirs=${() => { setRecord(conflict); put(textsOf(conflict.config)); setName(conflict.name); setConflict(null); }} />`}
  </div>`;
}
