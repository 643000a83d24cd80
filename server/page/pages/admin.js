// Administration: who is here, with which role in which project, with which keys, and what was done.

import { html, useState } from "../vendor/preact.js";
import { get, part, patch, post, query, remove, user } from "../core/api.js";
import { useLoaded, useTitle } from "../core/load.js";
import { mayHere, projects } from "../core/projects.js";
import { place, setQuery } from "../core/router.js";
import { initials, many } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { Confirm, Dialog, Empty, Failed, Ghosts, say, sayError } from "../ui/parts.js";
import { DataTable, moments } from "../ui/table.js";
import { Tabs } from "../ui/tabs.js";
import Keys from "./keys.js";

const TABS = [{ key: "people", word: "People" }, { key: "keys", word: "Keys" }, { key: "audit", word: "Audit log" }];
const PAGE = 100;

export default function Admin() {
  useTitle("Admin");
  const tab = place.value.query.get("tab") ?? "people";
  if (!mayHere("manage")) return html`<${Empty} icon="people" title="For administrators">Your role in the organization does not open this page.<//>`;
  const organization = user.value.authorized_organization;
  return html`<div class="head"><div><h1>Admin</h1><p class="soft break">${organization.name}</p></div></div>
    <${Tabs} label="Administration" bare gap=${16} tabs=${TABS} at=${tab} choose=${(/** @type {string} */ key) => setQuery({ tab: key === "people" ? null : key })}>
    ${tab === "keys" && html`<${Keys} organization=${organization.id} />`}
    ${tab === "keys" ? null : tab === "audit" ? html`<${Audit} organization=${organization.id} />` : html`<${People} organization=${organization.id} />`}<//>`;
}

/** @param {{ organization: string }} given */
function People({ organization }) {
  const at = `/organizations/${part(organization)}/users`;
  const found = useLoaded(async (stop) => {
    const [people, roles] = await Promise.all([get(at, { signal: stop }), get("/roles/project", { signal: stop })]);
    return { people, roles };
  }, [at]);
  const [open, setOpen] = useState(/** @type {any} */ (null));
  const done = (/** @type {string} */ text) => () => { setOpen(null); say(text); found.again(); };
  if (found.error) return html`<${Failed} error=${found.error} again=${found.again} />`;
  if (!found.data) return html`<${Ghosts} rows=${4} />`;
  const names = new Map((projects.value ?? []).map((one) => [one.id, one.name]));
  const roles = new Map(found.data.roles.map((/** @type {any} */ one) => [one.id, one.name]));
  return html`<div class="stack"><div class="spread"><span class="soft">${many(found.data.people.length, "person").replace("persons", "people")}</span><button type="button" class="button main" onClick=${() => setOpen({ kind: "new" })}><${Icon} name="plus" /> Add a person</button></div>
    ${found.data.people.map((/** @type {any} */ one) => html`<article key=${one.id} class="box pad person" aria-label=${one.name || one.email}>
      <span class="round" aria-hidden="true">${initials(one.name || one.email || "?")}</span>
      <div class="who"><strong class="break">${one.name || one.email}</strong><div class="soft small break">${one.email}${one.is_active ? "" : " · suspended"}</div>
        <div class="row" style=${{ marginTop: "6px" }}><span class="chip">${one.organization_role.name} of the organization</span>${one.every_project_role_id && html`<span class="chip">every project: ${roles.get(one.every_project_role_id)}</span>`}${one.user_project_roles.map((/** @type {any} */ role) => html`<span key=${role.project_id} class="chip">${names.get(role.project_id) ?? "a project"}: ${roles.get(role.project_role_id) ?? role.project_role_id}
          <button type="button" class="chip-out" aria-label=${`Take the role in ${names.get(role.project_id) ?? "the project"} from ${one.name || one.email}`} onClick=${() => remove(`/projects/${part(role.project_id)}/members/${part(one.id)}`).then(done("The role is taken away."), sayError)}><${Icon} name="close" size=${12} /></button></span>`)}</div></div>
      <div class="row"><button type="button" class="button slim" onClick=${() => setOpen({ kind: "role", person: one })}>Give a role</button>
        <label class="row small" for=${`role-${one.id}`}><span class="unseen">Role in the organization of ${one.name || one.email}</span><select class="input" id=${`role-${one.id}`} style=${{ width: "auto" }} disabled=${one.id === user.value.id}
          onChange=${(/** @type {any} */ event) => patch(`${at}/${part(one.id)}/role`, { role_name: event.target.value }).then(done("The role is changed."), (error) => { sayError(error); found.again(); })}>${["Admin", "Member"].map((role) => html`<option key=${role} selected=${role === one.organization_role.name}>${role}</option>`)}</select></label>
        <button type="button" class="button slim" disabled=${one.id === user.value.id} onClick=${() => patch(`${at}/${part(one.id)}`, { is_active: !one.is_active }).then(done(one.is_active ? "Suspended: the keys are refused at once." : "Active again."), sayError)}>${one.is_active ? "Suspend" : "Activate"}</button>
        <button type="button" class="button slim danger" disabled=${one.id === user.value.id} onClick=${() => setOpen({ kind: "remove", person: one })}>Remove</button></div></article>`)}
    ${open?.kind === "new" && html`<${NewPerson} at=${at} close=${() => setOpen(null)} done=${done("The person is a member now. Give them a role, and a key on the tab Keys.")} />`}
    ${open?.kind === "role" && html`<${GiveRole} person=${open.person} roles=${found.data.roles} close=${() => setOpen(null)} done=${done("The role is given.")} />`}
    ${open?.kind === "remove" && html`<${Confirm} title="Remove this person?" danger yes="Remove" onClose=${() => setOpen(null)} onYes=${() => remove(`${at}/${part(open.person.id)}`).then(done("Removed. Their keys are revoked, their records stay."), sayError)}
      text=${html`<strong class="break">${open.person.name || open.person.email}</strong> leaves the organization. The keys are revoked at once; records stay.`} />`}</div>`;
}

/** @param {{ at: string, close: () => void, done: () => void }} given */
function NewPerson({ at, close, done }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("Member");
  return html`<${Dialog} title="Add a person" onClose=${close} form=${() => post(`${at}/by-email`, { email: email.trim(), role_name: role }).then(done, sayError)}
    foot=${html`<button type="button" class="button" onClick=${close}>Cancel</button><button class="button main" disabled=${!email.trim()}>Add</button>`}>
    <label class="labelled" for="mail">E-mail address<input class="input" id="mail" type="email" autofocus value=${email} onInput=${(/** @type {any} */ event) => setEmail(event.target.value)} /><span class="soft small">No mail is sent. Hand the key over yourself.</span></label>
    <label class="labelled" for="org-role">Role in the organization<select class="input" id="org-role" onChange=${(/** @type {any} */ event) => setRole(event.target.value)}>${["Member", "Admin"].map((one) => html`<option key=${one} selected=${one === role}>${one}</option>`)}</select></label><//>`;
}

/** @param {{ person: any, roles: any[], close: () => void, done: () => void }} given */
function GiveRole({ person, roles, close, done }) {
  const all = projects.value ?? [];
  const [project, setProject] = useState(all[0]?.id ?? "");
  const [role, setRole] = useState(roles[0]?.id ?? "");
  const give = () => post(`/projects/${part(project)}/members`, { user_id: person.id, project_role_id: role }).then(done, sayError);
  return html`<${Dialog} title=${`A role for ${person.name || person.email}`} onClose=${close} form=${give}
    foot=${html`<button type="button" class="button" onClick=${close}>Cancel</button><button class="button main" disabled=${!project}>Give it</button>`}>
    <label class="labelled" for="in-project">Project<select class="input" id="in-project" onChange=${(/** @type {any} */ event) => setProject(event.target.value)}>${all.map((one) => html`<option key=${one.id} value=${one.id} selected=${one.id === project}>${one.name}</option>`)}</select></label>
    <fieldset><legend class="labelled">Role</legend>${roles.map((one) => html`<label key=${one.id} class="row" style=${{ alignItems: "flex-start", padding: "4px 0", flexWrap: "nowrap" }}><input type="radio" name="role" checked=${one.id === role} onChange=${() => setRole(one.id)} /><span><strong>${one.name}</strong><br /><span class="soft small">${one.description}</span></span></label>`)}</fieldset><//>`;
}

/** @param {{ organization: string }} given */
function Audit({ organization }) {
  const [page, setPage] = useState(0);
  const found = useLoaded((stop) => get(`/organizations/${part(organization)}/audit-log${query({ limit: PAGE, offset: page * PAGE })}`, { signal: stop }), [organization, page]);
  if (found.error) return html`<${Failed} error=${found.error} again=${found.again} />`;
  if (!found.data) return html`<${Ghosts} rows=${6} height=${30} />`;
  const pages = Math.max(1, Math.ceil(found.data.total / PAGE));
  return html`<div class="stack"><${DataTable} label="Audit log" rows=${found.data.items.map((/** @type {any} */ one, /** @type {number} */ n) => ({ ...one, id: `${page}-${n}` }))} height=${640} columns=${[
      moments("at", "When"), { key: "email", label: "Who", show: (/** @type {any} */ row) => row.email ?? row.key_id ?? "" }, { key: "action", label: "What" },
      { key: "status", label: "Refused", show: (/** @type {any} */ row) => (row.status ? html`<span class="chip refused">${row.status}</span>` : "") }, { key: "target", label: "Which" }, { key: "detail", label: "More", sort: false, show: (/** @type {any} */ row) => (row.detail ? JSON.stringify(row.detail) : "") }]} />
    <div class="row"><button type="button" class="button slim" disabled=${page === 0} onClick=${() => setPage(page - 1)}><${Icon} name="left" size=${14} /> Newer</button><span class="soft small">Page ${page + 1} of ${pages}</span><button type="button" class="button slim" disabled=${page + 1 >= pages} onClick=${() => setPage(page + 1)}>Older <${Icon} name="right" size=${14} /></button></div></div>`;
}
