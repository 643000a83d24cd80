// Links for people without a key: read only, with an end, and revoked at will.

import { html, useState } from "../vendor/preact.js";
import { get, part, post, remove } from "../core/api.js";
import { useLoaded } from "../core/load.js";
import { asOf } from "../core/router.js";
import { ago, day, many } from "../core/words.js";
import { Icon } from "../ui/icons.js";
import { Dialog, Failed, Ghosts, copy, focused, sayError } from "../ui/parts.js";

const DAYS = [1, 7, 30, 90];

/** @param {{ project: string, target: { dashboard_id: string, plot_id?: string }, name: string, values: Record<string, any>, close: () => void }} given */
export function ShareDialog({ project, target, name, values, close }) {
  const at = `/projects/${part(project)}/shares`;
  const found = useLoaded((stop) => get(at, { signal: stop }), [at]);
  const [days, setDays] = useState(30);
  const [fixed, setFixed] = useState(false);
  const [downloads, setDownloads] = useState(false);
  const [made, setMade] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const mine = (found.data ?? []).filter((/** @type {any} */ one) => one.dashboard_id === target.dashboard_id && (one.plot_id ?? null) === (target.plot_id ?? null));
  const make = () => {
    setBusy(true);
    post(at, { ...target, days, view_params: !fixed, downloads, values })
      .then((share) => { setMade(share); found.again(); }, sayError).finally(() => setBusy(false));
  };
  const address = made && new URL(made.path ?? `/s/${made.token}`, location.href).href;
  return html`<${Dialog} title=${`Share “${name}”`} onClose=${close}>
    <p class="soft">Whoever has the link sees this at the values that are shown now, without a key, and nothing else of the project.${asOf() && html` <strong>It shows the data of the day on which it is opened, not those of ${asOf()}.</strong>`}</p>
    <label class="row" for="share-days">Valid for <select class="input" id="share-days" style=${{ width: "auto" }} onChange=${(/** @type {any} */ event) => setDays(Number(event.target.value))}>
      ${DAYS.map((one) => html`<option key=${one} value=${one} selected=${one === days}>${many(one, "day")}</option>`)}</select></label>
    <label class="switch" for="share-fixed"><input type="checkbox" role="switch" id="share-fixed" checked=${fixed} onChange=${(/** @type {any} */ event) => setFixed(event.target.checked)} /><span>Fix the view too: no controls at all</span></label>
    <label class="switch" for="share-numbers"><input type="checkbox" role="switch" id="share-numbers" checked=${downloads} onChange=${(/** @type {any} */ event) => setDownloads(event.target.checked)} /><span>Let them download the plotted numbers</span></label>
    <div><button type="button" class="button main" disabled=${busy} onClick=${make}><${Icon} name="link" /> Make a link</button></div>
    ${address && html`<div class="note good"><${Icon} name="check" /><div class="stack"><strong>The link is shown this once. Copy it now.</strong>
      <input class="input" readonly ref=${focused} aria-label="The link" value=${address} onFocus=${(/** @type {any} */ event) => event.target.select()} />
      <div><button type="button" class="button slim" onClick=${() => copy(address, "Link")}>Copy</button></div></div></div>`}
    ${found.error ? html`<${Failed} error=${found.error} />` : null}
    ${!found.data && !found.error && html`<${Ghosts} rows=${1} />`}
    ${mine.length > 0 && html`<div class="stack"><h3>Links that were made</h3><ul class="plain-list">${mine.map((/** @type {any} */ one) => html`<li key=${one.id} class="spread">
      <span class="small">${one.revoked_at ? "revoked" : `until ${day(one.expires_at)}`}<span class="soft"> · made ${ago(one.created_at)}, opened ${many(one.uses ?? 0, "time")}</span></span>
      ${!one.revoked_at && html`<button type="button" class="button slim danger" onClick=${() => remove(`${at}/${part(one.id)}`).then(found.again, sayError)}>Revoke</button>`}</li>`)}</ul></div>`}
  <//>`;
}
