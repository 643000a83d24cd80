// What the alerts of a dashboard found and nobody has seen, and the alerts themselves.

import { html, useEffect, useState } from "../vendor/preact.js";
import { get, part, post, query, remove } from "../core/api.js";
import { useLoaded } from "../core/load.js";
import { ago, cell, many } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { Dialog, Failed, Ghosts, sayError } from "../ui/parts.js";

const LOOK_EVERY_MS = 30_000;
const SHOWN = 5;

/** What a row is named by, in words. @param {any} one @param {any[]} plots */
function words(one, plots) {
  const values = Object.entries(one.found).filter(([name]) => !(name in one.key) && !/(^|_)id$/.test(name)).slice(0, 3);
  const named = Object.entries(one.key).filter(([name]) => !/(^|_)id$/.test(name));
  const plot = plots.find((other) => other.id === one.plot_id)?.name;
  return [...named, ...values].map(([name, value]) => `${name} ${cell(value)}`).concat(plot ? [`in ${plot}`] : []).join(", ");
}

/** What was found and nobody has seen. @param {{ project: string, board: string, plots: any[], writes: boolean }} given */
export function BoardAlerts({ project, board, plots, writes }) {
  const at = `/projects/${part(project)}/alerts/occurrences`;
  const found = useLoaded((stop) => get(at + query({ acknowledged: false, on_dashboard: board, limit: 100 }), { signal: stop, quiet: true }), [at, board]);
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) found.again(); }, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const items = found.data?.items ?? [];
  if (!items.length) return null;
  /** @param {any[]} some */
  const seen = (some) => Promise.all(some.map((one) => post(`${at}/${part(one.id)}/acknowledge`, undefined))).then(found.again, sayError);
  return html`<section class="note alerts" aria-label="Alerts" style=${{ marginBottom: "12px" }}><${Icon} name="warn" /><div class="stack">
    <strong>${many(found.data.total, "alert")}</strong>
    <ul class="plain-list">${items.slice(0, SHOWN).map((/** @type {any} */ one) => html`<li key=${one.id} class="spread"><span><strong>${one.alert}</strong> ${words(one, plots)} <span class="soft small">${ago(one.first_true)}</span></span>
      ${writes && html`<button type="button" class="button slim" onClick=${() => seen([one])}>Seen<span class="unseen">: ${one.alert}</span></button>`}</li>`)}</ul>
    ${items.length > SHOWN && html`<div class="soft small">and ${many(found.data.total - SHOWN, "more alert")}</div>`}
    ${writes && items.length > 1 && html`<div><button type="button" class="button slim" onClick=${() => seen(items)}>Seen all</button></div>`}</div></section>`;
}

/** The alerts of a dashboard, and a new one. @param {{ project: string, plots: any[], close: () => void }} given */
export function AlertsDialog({ project, plots, close }) {
  const at = `/projects/${part(project)}/alerts`;
  const found = useLoaded((stop) => get(at, { signal: stop }), [at]);
  const ids = new Set(plots.map((one) => one.id));
  const mine = (found.data ?? []).filter((/** @type {any} */ one) => ids.has(one.plot_id));
  const [plot, setPlot] = useState(plots[0]?.id ?? "");
  const steps = Object.entries(plots.find((one) => one.id === plot)?.config?.plan?.steps ?? {}).filter(([, one]) => /** @type {any} */ (one).op !== "series").map(([name]) => name);
  const [step, setStep] = useState("");
  const chosen = steps.includes(step) ? step : steps.at(-1) ?? "";
  const [given, setGiven] = useState({ name: "", column: "", above: "", below: "" });
  const [busy, setBusy] = useState(false);
  /** @param {"name" | "column" | "above" | "below"} name @param {string} label @param {string} [type] */
  const field = (name, label, type = "text") => html`<label class="labelled" for=${`alert-${name}`}>${label}<input class="input" id=${`alert-${name}`} type=${type} step="any" value=${given[name]}
    onInput=${(/** @type {any} */ event) => setGiven({ ...given, [name]: event.target.value })} /></label>`;
  const make = () => {
    setBusy(true);
    const bound = (/** @type {string} */ text) => (text === "" ? null : Number(text));
    post(at, { plot_id: plot, name: given.name.trim(), step: chosen, column: given.column.trim() || null, above: bound(given.above), below: bound(given.below) })
      .then(() => { setGiven({ name: "", column: "", above: "", below: "" }); found.again(); }, sayError).finally(() => setBusy(false));
  };
  return html`<${Dialog} title="Alerts" onClose=${close} form=${make}
    foot=${html`<button type="button" class="button" onClick=${close}>Close</button><button class="button main" disabled=${busy || !given.name.trim() || !chosen}>Add the alert</button>`}>
    <p class="soft">An alert says when a row of a plot's data is true for the first time, after data came in.</p>
    ${found.error ? html`<${Failed} error=${found.error} />` : null}
    ${!found.data && !found.error && html`<${Ghosts} rows=${1} />`}
    ${mine.length > 0 && html`<ul class="plain-list">${mine.map((/** @type {any} */ one) => html`<li key=${one.id} class="spread"><span><strong>${one.name}</strong>
      <span class="soft small"> ${plots.find((other) => other.id === one.plot_id)?.name}: ${one.step}${one.column ? `, ${one.column}` : ""}${one.above === null ? "" : ` above ${one.above}`}${one.below === null ? "" : ` below ${one.below}`}</span>
      ${one.problem && html`<span class="small wrong">${one.problem}</span>`}</span>
      <button type="button" class="button slim danger" onClick=${() => remove(`${at}/${part(one.id)}`).then(found.again, sayError)}>Delete<span class="unseen"> ${one.name}</span></button></li>`)}</ul>`}
    ${field("name", "Name")}
    <label class="labelled" for="alert-plot">Plot<select class="input" id="alert-plot" onChange=${(/** @type {any} */ event) => setPlot(event.target.value)}>${plots.map((one) => html`<option key=${one.id} value=${one.id} selected=${one.id === plot}>${one.name}</option>`)}</select></label>
    <label class="labelled" for="alert-step">Rows of the step<select class="input" id="alert-step" onChange=${(/** @type {any} */ event) => setStep(event.target.value)}>${steps.map((name) => html`<option key=${name} value=${name} selected=${name === chosen}>${name}</option>`)}</select></label>
    ${field("column", "Column (empty: each new row)")}
    ${field("above", "Above", "number")}${field("below", "Below", "number")}<//>`;
}
