// A dashboard of live plots. The address carries what differs from the saved values.

import { html, signal, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { everything, get, part } from "../core/api.js";
import { useLoaded, useTitle } from "../core/load.js";
import { may, projects } from "../core/projects.js";
import { place, readValues, same, setQuery, writeValues } from "../core/router.js";
import { ago, many, who } from "../core/words.js";
import { LivePlot, lookForNewData, savedPlot } from "../plot/live.js";
import { Tile } from "../plot/tile.js";
import { Icon } from "../ui/icons.js";
import { AsOf, AsOfNote, useAsOf } from "../ui/as_of.js";
import { Later, styled } from "../ui/later.js";
import { Empty, Failed, Ghost, Popover, copy, sayError } from "../ui/parts.js";
import { Star } from "../ui/star.js";
import { placesOf } from "./places.js";
import { opened } from "../core/bookmarks.js";
import { BoardMenu } from "./board_menu.js";

const LOOK_EVERY_MS = 30_000;

/** The default of each param of a saved plot. @param {any} plot @returns {Record<string, any>} */
export const defaultsOf = (plot) => Object.fromEntries(Object.entries(plot.config?.params ?? {}).map(([name, param]) => [name, /** @type {any} */ (param).default ?? null]));

/** @param {{ project: string, board: string }} given */
export default function Board({ project, board }) {
  const found = useLoaded(async (stop) => {
    const at = `/projects/${part(project)}/dashboards/${part(board)}`;
    const [record, plots] = await Promise.all([get(at, { signal: stop }), everything(`${at}/plots`, {}, stop)]);
    return { record, plots };
  }, [project, board]);
  useTitle(found.data?.record.name ?? "Dashboard");
  if (found.error) return html`<${Failed} error=${found.error} again=${found.again} />`;
  if (!found.data) return html`<${Ghost} height=${60} /><div class="board" aria-busy="true" style=${{ marginTop: "18px" }}>${[0, 1, 2, 3].map((n) => html`<div key=${n} style=${{ gridColumn: `span 6`, gridRow: "span 8" }}><${Ghost} height=${430} /></div>`)}</div>`;
  const { record, plots } = found.data;
  return html`<${Shown} key=${[record, ...plots].map((one) => one.updated_at).join()} project=${project} record=${record} plots=${plots} again=${found.again} />`;
}

/** @param {{ project: string, record: any, plots: any[], again: () => void }} given */
function Shown({ project, record, plots, again }) {
  const base = `/boards/${project}/${record.id}`;
  const places = useMemo(() => placesOf(record.layout ?? [], plots), [record, plots]);
  const placeOf = (/** @type {string} */ id) => /** @type {import("./places.js").Place} */ (places.get(id));
  const ordered = useMemo(() => [...plots].sort((a, b) => { const [one, two] = [placeOf(a.id), placeOf(b.id)]; return one.y - two.y || one.x - two.x; }), [plots, places]);
  const lives = useRef(/** @type {Map<string, LivePlot>} */ (new Map())).current;
  const [arranging, setArranging] = useState(false);
  const writes = may((projects.value ?? []).find((one) => one.id === project), "write");

  useMemo(() => {
    const chosen = readValues(place.peek().query.get("values")) ?? {};
    for (const plot of plots) {
      lives.set(plot.id, new LivePlot({
        id: plot.id, name: plot.name, source: savedPlot(project, record.id, plot.id), defaults: defaultsOf(plot), chosen: chosen[plot.id] ?? {},
        onChosen: (_, how) => setQuery({ values: writeValues(allChosen(lives)) }, how), revision: plot.revision, onRevised: again,
      }));
    }
  }, []);
  useEffect(() => () => { for (const one of lives.values()) one.close(); }, []);
  useEffect(() => opened("dashboard", record.id), []);

  // Back and forward: the values of the address go to the plots.
  const values = place.value.query.get("values");
  useEffect(() => {
    const chosen = readValues(values) ?? {};
    for (const [id, one] of lives) if (!same(chosen[id] ?? {}, one.chosen.peek())) one.take(chosen[id] ?? {});
  }, [values]);

  useEffect(() => {
    const look = () => { if (!document.hidden) lookForNewData(project, [...lives.values()]).catch(() => null); };
    const timer = setInterval(look, LOOK_EVERY_MS);
    document.addEventListener("visibilitychange", look);
    return () => { clearInterval(timer); document.removeEventListener("visibilitychange", look); };
  }, []);

  useAsOf(() => lives.values());
  const [alerting, setAlerting] = useState(false);
  const [Watch, setWatch] = useState(/** @type {any} */ (null));
  useEffect(() => { import("./alerts.js").then((module) => setWatch(() => module), sayError); }, []);

  const unknown = Object.keys(readValues(values) ?? {}).filter((id) => !lives.has(id));
  return html`
    <div class="head"><div><nav class="crumbs" aria-label="Where this is"><a href="/">Boards</a><span>/</span><a href=${`/?project=${project}`}>${(projects.value ?? []).find((one) => one.id === project)?.name ?? "Project"}</a></nav>
      <div class="row tight"><h1 class="break">${record.name}</h1><${Star} kind="dashboard" id=${record.id} name=${record.name} /></div>
      <p class="soft" style=${{ overflowWrap: "anywhere" }}>${record.description && html`<bdi>${record.description}</bdi> · `}${many(plots.length, "plot")}, changed ${ago(record.updated_at)}, made by ${who(record.created_by_email)}</p></div>
      <div class="row"><${SharedControls} lives=${[...lives.values()]} /><${AsOf} />
        <button type="button" class="button" onClick=${() => copy(location.href, "Link")}><${Icon} name="link" /> Link</button>
        <${BoardMenu} project=${project} record=${record} writes=${writes} base=${base} lives=${lives} alerts=${() => setAlerting(true)} arrange=${() => setArranging(true)} again=${again} /></div></div>
    <${AsOfNote} />
    ${Watch && html`<${Watch.BoardAlerts} project=${project} board=${record.id} plots=${plots} writes=${writes} />`}
    ${alerting && html`<${Later} load=${() => import("./alert_form.js")} of="AlertsDialog" project=${project} plots=${ordered} shown=${allChosen(lives)} close=${() => setAlerting(false)} />`}
    ${unknown.length > 0 && html`<div class="note"><${Icon} name="warn" /><div>The link has values for ${many(unknown.length, "plot")} that this dashboard does not have. They are not used.</div></div>`}
    ${arranging && html`<${Later} load=${() => styled(() => import("./arrange.js"))} of="Arrange" project=${project} record=${record} plots=${ordered} places=${places} close=${(/** @type {boolean} */ changed) => { setArranging(false); if (changed) again(); }} />`}
    ${!arranging && html`<div class="board">${ordered.map((plot) => {
      const at = placeOf(plot.id);
      return html`<${Tile} key=${plot.id} live=${lives.get(plot.id)} plot=${plot} to=${`${base}/plots/${plot.id}`} writes=${writes}
        style=${{ gridColumn: `${at.x + 1} / span ${at.w}`, gridRow: `${at.y + 1} / span ${at.h}` }} />`;
    })}</div>`}
    ${!plots.length && html`<${Empty} title="No plots yet" action=${writes && html`<div class="row"><a class="button main" href=${`/explore/gallery/${project}?board=${record.id}`}><${Icon} name="chart" /> New plot from the gallery</a><a class="button" href=${`${base}/new-plot`}><${Icon} name="plus" /> Write a recipe</a></div>`}>
      ${writes ? "Begin with a ready recipe, write one, or save a figure from a notebook with board.save(...)." : "Whoever may write in this project can save plots here."}<//>`}`;
}

/** @param {Map<string, LivePlot>} lives */
function allChosen(lives) {
  return Object.fromEntries([...lives].map(([id, one]) => [id, one.chosen.peek()]).filter(([, chosen]) => Object.keys(/** @type {any} */ (chosen)).length));
}

/** One control for all plots that have a param of the same name. @param {{ lives: LivePlot[] }} given */
function SharedControls({ lives }) {
  /** @type {Map<string, { control: any, plots: LivePlot[] }>} */
  const shared = new Map();
  for (const live of lives) {
    for (const control of live.controls.value) {
      if (control.widget === "hidden") continue;
      const key = `${control.name} ${control.widget}`;
      const known = shared.get(key) ?? { control, plots: [] };
      known.plots.push(live);
      shared.set(key, known);
    }
  }
  // A plot that nobody has scrolled to is not drawn yet: its recipe says whether it has the param.
  for (const { control: { name }, plots } of shared.values()) {
    const kind = kindOf(plots[0].defaults[name]);
    plots.push(...lives.filter((one) => !one.answer.value && name in one.defaults && kindOf(one.defaults[name]) === kind));
  }
  const common = [...shared.values()].filter((one) => one.plots.length > 1);
  if (!common.length) return null;
  return html`<${Popover} panel named title="Shared controls" label=${html`<${Icon} name="sliders" /> Shared <span class="count">${common.length}</span>`}>
    <div class="stack"><p class="soft small">A choice here goes to every plot that has it.</p>
    ${common.map(({ control, plots }) => html`<div key=${control.name}><${Later} load=${() => import("../controls/panel.js")} of="Field" rows=${1} control=${control} prefix="shared"
      choose=${(/** @type {any} */ value, /** @type {any} */ how) => plots.forEach((one, n) => one.choose(control.name, value, { wait: control.debounce_ms, ...how, ...(n < plots.length - 1 ? { moving: true } : {}) }))} />
      <div class="soft small">${plots.slice(0, 9).map((one) => one.name).join(", ")}${plots.length > 9 ? ` and ${many(plots.length - 9, "more plot")}` : ""}</div></div>`)}</div><//>`;
}

/** What a value is, in a word. @param {any} value */
const kindOf = (value) => (Array.isArray(value) ? "list" : typeof value);
