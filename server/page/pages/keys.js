// Keys of the organization: who has which, new ones, which are shown once, and revoking them.

import { html, useState } from "../vendor/preact.js";
import { get, part, post, remove, user } from "../core/api.js";
import { useLoaded } from "../core/load.js";
import { ago, day } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { Confirm, Dialog, Failed, Ghosts, copy, say, sayError } from "../ui/parts.js";
import { DataTable, moments } from "../ui/table.js";

const DAYS = /** @type {const} */ ([[30, "30 days"], [90, "90 days"], [365, "1 year"], [0, "until it is revoked"]]);
const GIVES = [["", "all that the person may do"], ["read", "read only"], ["write", "read and write, no administration"]];

/** @param {{ organization: string }} given */
export default function Keys({ organization }) {
  const at = `/organizations/${part(organization)}/keys`;
  const found = useLoaded((stop) => get(at, { signal: stop }), [at]);
  const [open, setOpen] = useState(/** @type {any} */ (null));
  if (found.error) return html`<${Failed} error=${found.error} again=${found.again} />`;
  if (!found.data) return html`<${Ghosts} rows=${4} height=${33} />`;
  /** @param {any} key */
  const revoke = (key) => remove(`${at}/${part(key.id)}`).then(() => { setOpen(null); say("The key is revoked."); found.again(); }, sayError);
  return html`<div class="stack"><div class="spread"><p class="soft">Notebooks, scripts and this page are opened with a key. It acts as its person, never with more rights.</p>
      <button type="button" class="button main" onClick=${() => setOpen({ kind: "new" })}><${Icon} name="key" /> New key</button></div>
    <${DataTable} label="Keys" rows=${found.data} height=${620} columns=${[
      { key: "email", label: "Person" }, { key: "id", label: "Key", show: (/** @type {any} */ row) => html`<code>wb_${row.id}_…</code>` },
      { key: "state", label: "State", show: (/** @type {any} */ row) => html`<span class=${`chip ${row.state === "in force" ? "stored" : ""}`}>${row.state}</span>` },
      { key: "permission", label: "Gives", show: (/** @type {any} */ row) => row.permission ?? "all of the role" },
      moments("created_at", "Made"),
      moments("expires_at", "Ends", (_, when) => when || "never"),
      { key: "used_at", label: "Last used", show: (/** @type {any} */ row) => (row.used_at ? html`<span title=${day(row.used_at)}>${ago(row.used_at)}</span>` : "never"), text: (/** @type {any} */ row) => (row.used_at ? ago(row.used_at) : "never") },
      { key: "revoke", label: "", sort: false, show: (/** @type {any} */ row) => (row.state === "in force" ? html`<button type="button" class="button slim danger" aria-label=${`Revoke the key ${row.id} of ${row.email}`} onClick=${() => setOpen({ kind: "revoke", key: row })}>Revoke</button>` : "") },
    ]} />
    ${open?.kind === "new" && html`<${NewKey} organization=${organization} at=${at} close=${() => setOpen(null)} made=${found.again} />`}
    ${open?.kind === "revoke" && html`<${Confirm} title="Revoke this key?" danger yes="Revoke" onClose=${() => setOpen(null)} onYes=${() => revoke(open.key)}
      text=${html`Whoever uses the key <code>${open.key.id}</code> of <strong class="break">${open.key.email}</strong> is refused from this second on, in notebooks and on this page. This cannot be undone; a new key can be made.`} />`}</div>`;
}

/** @param {{ organization: string, at: string, close: () => void, made: () => void }} given */
function NewKey({ organization, at, close, made }) {
  const people = useLoaded((stop) => get(`/organizations/${part(organization)}/users`, { signal: stop }), [organization]);
  const [person, setPerson] = useState(user.value.id);
  const [days, setDays] = useState(90);
  const [gives, setGives] = useState("");
  const [key, setKey] = useState(/** @type {string | null} */ (null));
  const [busy, setBusy] = useState(false);
  const make = () => {
    setBusy(true);
    post(at, { user_id: person, ...(days ? { days } : {}), ...(gives ? { permission: gives } : {}) }).then((answer) => { setKey(answer.key); made(); }, sayError).finally(() => setBusy(false));
  };
  if (key) {
    return html`<${Dialog} title="The new key" foot=${html`<button type="button" class="button" onClick=${() => copy(key, "Key")}>Copy</button><button type="button" class="button main" onClick=${close}>I have copied it</button>`}>
      <div class="note"><${Icon} name="warn" /><div>It is shown this once: the server keeps only a fingerprint of it. Hand it over in person or by a password manager, not by mail.</div></div>
      <input class="input" readonly aria-label="The new key" value=${key} onFocus=${(/** @type {any} */ event) => event.target.select()} /><//>`;
  }
  return html`<${Dialog} title="New key" onClose=${close} form=${make}
    foot=${html`<button type="button" class="button" onClick=${close}>Cancel</button><button class="button main" disabled=${busy || !people.data}>Make it</button>`}>
    <label class="labelled" for="key-of">For<select class="input" id="key-of" onChange=${(/** @type {any} */ event) => setPerson(event.target.value)}>${(people.data ?? []).filter((/** @type {any} */ one) => one.is_active).map((/** @type {any} */ one) => html`<option key=${one.id} value=${one.id} selected=${one.id === person}>${one.email}</option>`)}</select></label>
    <label class="labelled" for="key-days">Valid for<select class="input" id="key-days" onChange=${(/** @type {any} */ event) => setDays(Number(event.target.value))}>${DAYS.map(([number, word]) => html`<option key=${number} value=${number} selected=${number === days}>${word}</option>`)}</select></label>
    <label class="labelled" for="key-gives">Gives at most<select class="input" id="key-gives" onChange=${(/** @type {any} */ event) => setGives(event.target.value)}>${GIVES.map(([value, word]) => html`<option key=${value} value=${value} selected=${value === gives}>${word}</option>`)}</select></label><//>`;
}
