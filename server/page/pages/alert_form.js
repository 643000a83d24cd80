// The alerts of a dashboard, and a new one. What a new one is asked for is declared once, in Python
// (`workbench/operations/alerts.py`); here is how each kind of field is chosen.

import { html, useMemo, useState } from "../vendor/preact.js";
import { get, part, post, query, remove } from "../core/api.js";
import { useLoaded } from "../core/load.js";
import { parsed } from "../controls/numbers.js";
import { cell } from "../core/words.js";
import { Dialog, Failed, Ghosts, sayError } from "../ui/parts.js";

/** @typedef {{ name: string, kind: string }} Column */
/** @typedef {{ name: string, columns: Column[], key: string[] }} Step */
/** @typedef {{ name: string, kind: string, label: string, hint: string, needed: boolean }} Asked */
/** @typedef {{ fields: Asked[], steps: Step[], webhooks: string[] }} Choices */
/** @typedef {{ plots: any[], choices: Choices, step: Step | undefined, column: Column | undefined, shown: Record<string, any>, given: Record<string, any> }} About */
/** @typedef {{ asked: Asked, id: string, value: any, set: (value: any) => void, about: About }} FieldGiven */

const ANY = /** @type {any} */ ({ integer: false, min: null, max: null });
const isNumber = (/** @type {Column | undefined} */ one) => Boolean(one && ["number", "integer"].includes(one.kind));

/** @param {{ asked: Asked, id: string, hint?: string, children: any }} given */
const Labelled = ({ asked, id, hint = asked.hint, children }) => html`<label class="labelled" for=${id}>${asked.label}${children}${hint && html`<span class="soft small" id=${`${id}-hint`}>${hint}</span>`}</label>`;

/** One of some names. @param {FieldGiven & { names: [string, string][], hint?: string }} given */
const Choice = ({ asked, id, value, set, names, hint }) => html`<${Labelled} asked=${asked} id=${id} hint=${hint}><select class="input" id=${id} onChange=${(/** @type {any} */ event) => set(event.target.value)}>
  ${names.map(([name, word]) => html`<option key=${name} value=${name} selected=${name === (value ?? "")}>${word}</option>`)}</select><//>`;

/** @param {FieldGiven & { off?: boolean }} given */
const Line = ({ asked, id, value, set, off }) => html`<${Labelled} asked=${asked} id=${id}><input class="input" id=${id} autocomplete="off" required=${asked.needed} disabled=${off} value=${value ?? ""}
  aria-describedby=${asked.hint ? `${id}-hint` : undefined} onInput=${(/** @type {any} */ event) => set(event.target.value === "" ? null : event.target.value)} /><//>`;

/** A number, typed as text: a number field of a browser drops what it does not know. One that is none is not sent. @param {FieldGiven & { off?: boolean }} given */
function NumberLine({ asked, id, value, set, off }) {
  const [text, setText] = useState("");
  const shown = text.trim() !== "" || value === null || value === undefined ? text : String(value);
  /** @param {any} event */
  const typed = (event) => {
    const found = event.target.value.trim() ? parsed(event.target.value, ANY) : {};
    event.target.setCustomValidity(found.wrong ?? "");
    setText(event.target.value);
    set(found.value ?? null);
  };
  return html`<${Labelled} asked=${asked} id=${id}><input class="input" id=${id} inputmode="decimal" autocomplete="off" required=${asked.needed} disabled=${off} value=${shown}
    aria-describedby=${asked.hint ? `${id}-hint` : undefined} onInput=${typed} /><//>`;
}

/** Columns that tell one occurrence from another: those that name the rows, none, or chosen ones. @param {FieldGiven} given */
function Key({ asked, id, value, set, about }) {
  const columns = about.step?.columns ?? [];
  const own = about.step?.key ?? [];
  const how = value === null || value === undefined ? "" : value.length ? "some" : "none";
  const names = /** @type {[string, string][]} */ ([["", own.length ? `row, by its ${own.join(", ")}` : "row"], ["none", "alert: only once in all"], ["some", "of these columns"]]);
  const start = own.length ? own : columns.slice(0, 1).map((one) => one.name);
  /** @param {string} name @param {boolean} on */
  const turn = (name, on) => set(columns.map((one) => one.name).filter((one) => (one === name ? on : value.includes(one))));
  return html`<${Choice} asked=${asked} id=${id} value=${how} set=${(/** @type {string} */ chosen) => set(chosen === "" ? null : chosen === "none" ? [] : start)} names=${names} about=${about} />
    ${how === "some" && html`<fieldset class="list" aria-label=${`Columns: ${asked.label}`}>${columns.map((one) => html`<label key=${one.name}><input type="checkbox" checked=${value.includes(one.name)} onChange=${(/** @type {any} */ event) => turn(one.name, event.target.checked)} /><span>${one.name}</span></label>`)}</fieldset>`}`;
}

/** Where messages go: an allowed address, or one that begins so. @param {FieldGiven} given */
function Webhook({ asked, id, value, set, about }) {
  const allowed = about.choices.webhooks;
  const begin = allowed.filter((one) => (value ?? "").startsWith(one)).sort((a, b) => b.length - a.length)[0] ?? "";
  if (!allowed.length) return html`<div class="labelled">${asked.label}<span class="soft small">No address is allowed yet. ${asked.hint}</span></div>`;
  return html`<${Choice} asked=${asked} id=${id} value=${begin} set=${(/** @type {string} */ to) => set(to || null)} names=${[["", "nobody"], ...allowed.map((one) => [one, one])]} hint="" about=${about} />
    ${begin && html`<label class="labelled" for=${`${id}-rest`}>Rest of the address<input class="input" id=${`${id}-rest`} autocomplete="off" value=${value.slice(begin.length).replace(/^\//, "")}
      onInput=${(/** @type {any} */ event) => set(event.target.value ? `${begin.replace(/\/$/, "")}/${event.target.value}` : begin)} /><span class="soft small">May be left out.</span></label>`}`;
}

/** How each kind of field is chosen. @type {Record<string, (given: FieldGiven) => any>} */
const KINDS = {
  text: (given) => html`<${Line} ...${given} />`,
  plot: (given) => html`<${Choice} ...${given} names=${given.about.plots.map((one) => [one.id, one.name])} />`,
  step: (given) => html`<${Choice} ...${given} names=${given.about.choices.steps.map((one) => [one.name, one.name])} />`,
  column: (given) => html`<${Choice} ...${given} set=${(/** @type {string} */ name) => given.set(name || null)} names=${[["", "none: each new row"], ...(given.about.step?.columns ?? []).map((one) => [one.name, one.name])]} />`,
  number: (given) => (isNumber(given.about.column) ? html`<${NumberLine} key=${given.about.column?.name} ...${given} off=${(given.about.given.equals ?? null) !== null} />` : null),
  value: (given) => {
    const { column, given: others } = given.about;
    if (!column) return null;
    if (column.kind === "boolean") return html`<${Choice} ...${given} value=${given.value === null || given.value === undefined ? "" : String(given.value)} set=${(/** @type {string} */ text) => given.set(text ? text === "true" : null)} names=${[["", "not asked"], ["true", "yes"], ["false", "no"]]} hint="" />`;
    const off = [others.above, others.below].some((one) => (one ?? null) !== null);
    return isNumber(column) ? html`<${NumberLine} key=${column.name} ...${given} off=${off} />` : html`<${Line} ...${given} asked=${{ ...given.asked, hint: "" }} off=${off} />`;
  },
  key: (given) => html`<${Key} ...${given} />`,
  values: ({ asked, id, value, set, about }) => (Object.keys(about.shown).length ? html`<label class="switch" for=${id}><input type="checkbox" role="switch" id=${id} checked=${Boolean(value)} onChange=${(/** @type {any} */ event) => set(event.target.checked ? about.shown : null)} />
    <span>${asked.label}: those that are shown now <span class="soft small break">${valuesInWords(about.shown)}</span></span></label>` : null),
  webhook: (given) => html`<${Webhook} ...${given} />`,
};

/** @param {Record<string, any>} values */
const valuesInWords = (values) => Object.entries(values).map(([name, value]) => `${name} = ${cell(value)}`).join(", ");

/** What an alert watches, in words. @param {any} one @param {any[]} plots */
function watched(one, plots) {
  const bounds = [["above", one.above], ["below", one.below], ["equals", one.equals]].filter(([, value]) => value !== null).map(([word, value]) => `${word} ${cell(value)}`).join(" and ");
  return [plots.find((other) => other.id === one.plot_id)?.name, one.step, [one.column, bounds].filter(Boolean).join(" "),
    one.key === null ? "" : one.key.length ? `once for each ${one.key.join(", ")}` : "only once", valuesInWords(one.values), one.webhook && `sent to ${one.webhook}`].filter(Boolean).join(" · ");
}

/** @param {{ project: string, plots: any[], shown: Record<string, Record<string, any>>, close: () => void }} given */
export function AlertsDialog({ project, plots, shown, close }) {
  const at = `/projects/${part(project)}/alerts`;
  const found = useLoaded((stop) => get(at, { signal: stop }), [at]);
  const ids = new Set(plots.map((one) => one.id));
  const mine = (found.data ?? []).filter((/** @type {any} */ one) => ids.has(one.plot_id));
  const [given, setGiven] = useState(/** @type {Record<string, any>} */ ({ plot_id: plots[0]?.id ?? "" }));
  const [busy, setBusy] = useState(false);
  const asked = useLoaded((stop) => /** @type {Promise<Choices | null>} */ (given.plot_id ? get(`${at}/choices${query({ plot_id: given.plot_id })}`, { signal: stop }) : Promise.resolve(null)), [given.plot_id]);
  const choices = asked.data && !asked.busy ? asked.data : null;
  const step = choices?.steps.find((one) => one.name === given.step) ?? choices?.steps.at(-1);
  const about = useMemo(() => choices && { plots, choices, step, column: step?.columns.find((one) => one.name === given.column), shown: shown[given.plot_id] ?? {}, given }, [choices, step, given]);
  /** Another plot, step or column asks anew for what depends on it. @param {string} name @param {any} value */
  const set = (name, value) => setGiven((now) => {
    const { plot_id, name: title, webhook, step: of, ...rest } = now;
    const kept = name === "plot_id" ? { name: title, webhook } : name === "step" ? { plot_id, name: title, webhook, values: now.values } : name === "column" ? { ...now, above: null, below: null, equals: null } : now;
    return { ...kept, [name]: value };
  });
  const nameless = !String(given.name ?? "").trim();
  const make = () => {
    setBusy(true);
    const said = Object.fromEntries(Object.entries({ ...given, step: step?.name }).filter(([, value]) => value !== null && value !== undefined));
    post(at, { ...said, name: String(given.name ?? "").trim() }).then(() => { setGiven({ plot_id: given.plot_id }); found.again(); }, sayError).finally(() => setBusy(false));
  };
  return html`<${Dialog} title="Alerts" onClose=${close} form=${make}
    foot=${html`${nameless && choices && html`<span class="soft small">Give it a name.</span>`}<button type="button" class="button" onClick=${close}>Close</button><button class="button main" disabled=${busy || nameless || !step}>Add the alert</button>`}>
    <p class="soft">An alert says when a row of a plot's data is true for the first time, after data came in.</p>
    ${found.error ? html`<${Failed} error=${found.error} />` : null}
    ${!found.data && !found.error && html`<${Ghosts} rows=${1} />`}
    ${mine.length > 0 && html`<ul class="plain-list" aria-label="Alerts of this dashboard">${mine.map((/** @type {any} */ one) => html`<li key=${one.id} class="spread"><span class="break"><strong>${one.name}</strong>
      <span class="soft small"> ${watched(one, plots)}</span>${one.problem && html`<span class="small wrong"> ${one.problem}</span>`}</span>
      <button type="button" class="button slim danger" onClick=${() => remove(`${at}/${part(one.id)}`).then(found.again, sayError)}>Delete<span class="unseen"> ${one.name}</span></button></li>`)}</ul>`}
    ${asked.error ? html`<${Failed} error=${asked.error} />` : null}
    ${!plots.length && html`<p class="soft">There is no plot to watch yet.</p>`}
    ${plots.length > 0 && !about && !asked.error && html`<${Ghosts} rows=${3} />`}
    ${about?.choices.fields.map((one) => KINDS[one.kind]?.({ asked: one, id: `alert-${one.name}`, value: one.kind === "step" ? step?.name : given[one.name], set: (value) => set(one.name, value), about }))}<//>`;
}
