// The name and the description of a dashboard, to be changed.

import { html, useState } from "../vendor/preact.js";
import { patch } from "../core/api.js";
import { Dialog, sayError } from "../ui/parts.js";

/** @param {{ at: string, record: any, close: (changed: boolean) => void }} given */
export function BoardName({ at, record, close }) {
  const [name, setName] = useState(record.name);
  const [about, setAbout] = useState(record.description ?? "");
  /** Only what was changed here: the other may have been changed by somebody else meanwhile. */
  const changes = () => ({ ...(name !== record.name ? { name: name.trim() } : {}), ...(about !== (record.description ?? "") ? { description: about.trim() || null } : {}) });
  const save = () => (Object.keys(changes()).length ? patch(at, changes()).then(() => close(true), sayError) : close(false));
  return html`<${Dialog} title="Name and description" onClose=${() => close(false)} form=${save}
    foot=${html`<button type="button" class="button" onClick=${() => close(false)}>Cancel</button><button class="button main" disabled=${!name.trim()}>Save</button>`}>
    <label class="labelled" for="new-name">Name<input class="input" id="new-name" value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
    <label class="labelled" for="new-about">Description<textarea class="input" id="new-about" rows="3" value=${about} onInput=${(/** @type {any} */ event) => setAbout(event.target.value)}></textarea></label><//>`;
}
