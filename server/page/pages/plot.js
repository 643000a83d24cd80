// One plot at full height, with its numbers, notes, log, history and recipe below.

import { html, useEffect, useMemo, useState } from "../vendor/preact.js";
import { get, part, post, query } from "../core/api.js";
import { useLoaded, useTitle } from "../core/load.js";
import { may, projects } from "../core/projects.js";
import { place, readValues, same, setQuery, writeValues } from "../core/router.js";
import { ago, count, day, duration, many, who } from "../core/words.js";
import { ControlPanel } from "../controls/panel.js";
import { ExportMenu } from "../plot/export_menu.js";
import { LivePlot, controlCount, lookForNewData, plotPath, savedPlot } from "../plot/live.js";
import { tracesTable } from "../plot/numbers.js";
import { Notes, Tile } from "../plot/tile.js";
import { opened } from "../core/bookmarks.js";
import { Star } from "../ui/star.js";
import { Icon } from "../ui/icons.js";
import { AsOf, AsOfNote, useAsOf } from "../ui/as_of.js";
import { Later } from "../ui/later.js";
import { Failed, Ghost, Ghosts, Popover, say, sayError } from "../ui/parts.js";
import { DataTable } from "../ui/table.js";
import { Tabs } from "../ui/tabs.js";
import { defaultsOf } from "./board.js";

const TABS = /** @type {const} */ (["Data", "Notes", "Log", "History", "About"]);

/** @param {{ project: string, board: string, plot: string }} given */
export default function Plot({ project, board, plot }) {
  const found = useLoaded(async (stop) => {
    const [record, home] = await Promise.all([get(plotPath(project, board, plot), { signal: stop }), get(`/projects/${part(project)}/dashboards/${part(board)}`, { signal: stop })]);
    return { record, home };
  }, [project, board, plot]);
  useTitle(found.data?.record.name ?? "Plot");
  if (found.error) return html`<${Failed} error=${found.error} again=${found.again} />`;
  if (!found.data) return html`<${Ghost} height=${560} />`;
  return html`<${Shown} key=${found.data.record.revision} project=${project} home=${found.data.home} record=${found.data.record} again=${found.again} />`;
}

/** @param {{ project: string, home: any, record: any, again: () => void }} given */
function Shown({ project, home, record, again }) {
  const base = `/boards/${project}/${home.id}`;
  const to = `${base}/plots/${record.id}`;
  const revision = Number(place.value.query.get("revision")) || null;
  const number = revision ?? record.revision;
  // Who saved it: the plot itself says who made it first.
  const saved = useLoaded((stop) => get(`${plotPath(project, home.id, record.id)}/revisions/${number}`, { signal: stop }), [number]);
  const [sharing, setSharing] = useState(false);
  const writes = may((projects.value ?? []).find((one) => one.id === project), "write");
  const live = useMemo(() => new LivePlot({
    id: record.id, name: record.name, source: savedPlot(project, home.id, record.id, revision), defaults: revision ? {} : defaultsOf(record), chosen: readValues(place.peek().query.get("values")) ?? {},
    onChosen: (one, how) => setQuery({ values: writeValues(one.chosen.peek()) }, how), revision: record.revision, onRevised: again,
  }), [revision]);
  useEffect(() => () => live.close(), [live]);
  useEffect(() => opened("plot", record.id), []);
  const values = place.value.query.get("values");
  useEffect(() => { const chosen = readValues(values) ?? {}; if (!same(chosen, live.chosen.peek())) live.take(chosen); }, [values, live]);
  useEffect(() => {
    const look = () => { if (!document.hidden && !revision) lookForNewData(project, [live]).catch(() => null); };
    const timer = setInterval(look, 30_000);
    document.addEventListener("visibilitychange", look);
    return () => { clearInterval(timer); document.removeEventListener("visibilitychange", look); };
  }, [live]);
  useAsOf(() => [live]);
  const controls = controlCount(live);
  const awaited = !live.answer.value && !live.error.value;
  const wide = matchMedia("(min-width: 1001px)").matches;
  return html`
    <div class="head"><div><nav class="crumbs" aria-label="Where this is"><a href="/">Boards</a><span>/</span><a href=${base}>${home.name}</a></nav>
      <div class="row tight"><h1 class="break">${record.name}</h1><${Star} kind="plot" id=${record.id} name=${record.name} /></div><p class="soft">Revision ${number}${saved.data ? `, changed ${ago(saved.data.created_at)} by ${who(saved.data.created_by_email)}` : ""}</p></div>
      <div class="row"><${AsOf} /><button type="button" class="button" aria-label="Read again" title="Read the data again" onClick=${() => live.renew()}><${Icon} name="refresh" /><span class="wide-only"> Read again</span></button>
        <${Popover} named title="Export the plot" label=${html`<${Icon} name="download" /> Export`}><${ExportMenu} live=${live} plot=${record} to=${location.pathname + location.search} /><//>
        ${writes && html`<button type="button" class="button" onClick=${() => setSharing(true)}><${Icon} name="share" /> Share</button>
        <a class="button main" href=${`${to}/edit${query({ values })}`}><${Icon} name="edit" /> Edit</a>`}</div></div>
    ${revision && revision !== record.revision && html`<div class="note calm" style=${{ marginBottom: "12px" }}><${Icon} name="history" /><div>This is revision ${revision} of ${record.revision}. <a href=${to}>See the newest</a></div></div>`}
    <${AsOfNote} />
    <div class=${`single ${controls || awaited ? "" : "bare"}`}>
      ${(controls > 0 || awaited) && html`<details class="box side" open=${wide}><summary>Controls <span class="count">${controls}</span></summary>
        <aside class="pad" aria-label="Controls">${live.answer.value ? html`<${ControlPanel} live=${live} prefix="one" across=${!wide} />` : html`<${Ghosts} rows=${3} />`}</aside></details>`}
      <div class="stack"><${Tile} key=${revision} live=${live} plot=${record} to=${to} writes=${writes} large />
        <${Below} live=${live} record=${record} project=${project} home=${home} writes=${writes} to=${to} again=${again} /></div></div>
    ${sharing && html`<${Later} load=${() => import("./share.js")} of="ShareDialog" project=${project} target=${{ dashboard_id: home.id, plot_id: record.id }} name=${record.name} values=${Object.keys(live.chosen.value).length ? { [record.id]: live.chosen.value } : {}} close=${() => setSharing(false)} />`}`;
}

/** @param {{ live: LivePlot, record: any, project: string, home: any, writes: boolean, to: string, again: () => void }} given */
function Below({ live, record, project, home, writes, to, again }) {
  const [tab, setTab] = useState(/** @type {typeof TABS[number]} */ ("Data"));
  const notes = live.notes.value;
  const drawn = live.answer.value;
  // Only the history is there without a figure.
  const instead = drawn ? null : live.error.value ? html`<p class="soft">There is no figure yet: what is wrong is said above.</p>` : html`<${Ghosts} rows=${3} height=${26} />`;
  const counts = { Data: 0, Notes: notes.length, Log: drawn?.log ? 1 : 0, History: record.revision, About: 0 };
  return html`<section class="box" aria-label="About the figure">
    <${Tabs} label="About the figure" tabs=${TABS.map((one) => ({ key: one, word: one, count: counts[one] }))} at=${tab} choose=${setTab} panel="pad">
      ${tab !== "History" && instead}
      ${tab === "Data" && drawn && html`<${Numbers} live=${live} />`}
      ${tab === "Notes" && drawn && (notes.length ? html`<${Notes} notes=${notes} />` : html`<p class="soft">Nothing was left out, and nothing looks wrong.</p>`)}
      ${tab === "Log" && drawn && (drawn.log ? html`<pre class="log" tabindex="0">${drawn.log}</pre>` : html`<p class="soft">${drawn.cache?.figure === "hit" ? "The figure came from the cache: its script did not run this time." : "The script printed nothing."}</p>`)}
      ${tab === "History" && html`<${Revisions} record=${record} project=${project} home=${home} writes=${writes} to=${to} again=${again} />`}
      ${tab === "About" && drawn && html`<${About} live=${live} record=${record} />`}<//></section>`;
}

/** The numbers of the figure as a table: its text alternative. @param {{ live: LivePlot }} given */
function Numbers({ live }) {
  const figure = live.answer.value?.figure; // with the traces that this page cannot draw
  const table = useMemo(() => (figure ? tracesTable(figure) : null), [figure]);
  if (!table) return html`<${Ghosts} rows=${3} height=${26} />`;
  if (!table.rows.length) return html`<p class="soft">This figure has no numbers.</p>`;
  return html`<${DataTable} label="The plotted numbers" columns=${table.columns} rows=${table.rows} />
    ${table.more > 0 && html`<p class="note">The table ends after ${many(table.rows.length, "row")}: ${count(table.more)} more are in the csv of the menu Export.</p>`}`;
}

/** @param {{ record: any, project: string, home: any, writes: boolean, to: string, again: () => void }} given */
function Revisions({ record, project, home, writes, to, again }) {
  const at = `${plotPath(project, home.id, record.id)}/revisions`;
  const found = useLoaded(async (stop) => (await get(`${at}${query({ limit: 100, offset: Math.max(0, record.revision - 100) })}`, { signal: stop })).items.reverse(), [at, record.revision]);
  if (found.error) return html`<${Failed} error=${found.error} again=${found.again} />`;
  if (!found.data) return html`<${Ghosts} rows=${3} height=${30} />`;
  /** @param {number} number */
  const restore = (number) => post(`${at}/${number}/restore`, {}).then(() => { say(`Revision ${number} is the newest one again.`); again(); }, sayError);
  return html`<ul class="plain-list">${found.data.map((/** @type {any} */ one) => html`<li key=${one.revision} class="spread">
    <span><strong>Revision ${one.revision}</strong>${one.note ? html` · <span class="break">${one.note}</span>` : ""}<span class="soft small"> · ${day(one.created_at)} by ${who(one.created_by_email)}</span></span>
    <span class="row">${one.revision === record.revision ? html`<span class="chip">now</span>` : html`<a class="button slim" href=${`${to}?revision=${one.revision}`}>Look</a>
      ${writes && html`<a class="button slim" href=${`${to}/edit?compare=${one.revision}`}>Compare</a><button type="button" class="button slim" onClick=${() => restore(one.revision)}>Restore</button>`}`}</span></li>`)}</ul>`;
}

/** What made this figure. @param {{ live: LivePlot, record: any }} given */
function About({ live, record }) {
  const answer = live.answer.value;
  if (!answer) return html`<${Ghosts} rows=${3} height=${26} />`;
  const steps = Object.entries(record.config?.plan?.steps ?? {});
  const timings = Object.entries(answer.timings ?? {}).map(([name, ms]) => `${name} ${duration(ms / 1000)}`).join(", ");
  return html`<dl class="facts">
    ${answer.content && html`<dt>Figure</dt><dd><code>${answer.content}</code></dd>`}
    <dt>Plot</dt><dd><code>${record.id}</code>, revision ${record.revision}</dd>
    <dt>Values</dt><dd>${Object.entries(answer.values).map(([name, value]) => html`<div key=${name}><code>${name}</code> = ${typeof value === "string" ? value : JSON.stringify(value)}</div>`)}</dd>
    <dt>Read</dt><dd>${many(answer.reads?.sources ?? 0, "source")} in ${many(answer.reads?.steps ?? steps.length, "step")}${timings ? `: ${timings}` : ""}</dd>
    <dt>Traces</dt><dd>${many(answer.figure.data.length, "trace")}${answer.traces.some((one) => one.of) ? `, ${count(answer.traces.reduce((sum, one) => sum + one.shown, 0))} samples drawn` : ""}</dd>
    <dt>Plan</dt><dd>${steps.map(([name, step]) => html`<div key=${name}><code>${name}</code> <span class="soft">${/** @type {any} */ (step).op}${/** @type {any} */ (step).source ? ` of ${/** @type {any} */ (step).source}` : ""}</span></div>`)}</dd>
    <dt>Made</dt><dd>${day(record.created_at)} by ${record.created_by_email ?? "somebody"}</dd>
  </dl>`;
}
