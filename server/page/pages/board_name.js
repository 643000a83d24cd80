// The name and the description of a dashboard, to be changed.

import { html, useState } from "../vendor/preact.js";
import { patch } from "../core/api.js";
import { Dialog, sayError } from "../ui/parts.js";

/** @param {{ at: string, record: any, close: (changed: boolean) => void }} given */
export function BoardName({ at, record, close }) {
  const [name, setName] = useState(record.name);
  const [about, setAbout] = useState(record.description ?? "");
  const save = () => patch(at, { name: name.trim(), description: about.trim() || null }).then(() => close(true), sayError);
  return html`<${Dialog} title="Name and description" onClose=${() => close(false)} form=${save}
    foot=${html`<button type="button" class="button" onClick=${() => close(false)}>Cancel</button><button class="button main" disabled=${!name.trim()}>Save</button>`}>
    <label class="labelled" for="new-name">Name<input class="input" id="new-name" value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
    <label class="labelled" for="new-about">Description<textarea class="input" id="new-about" rows="3" value=${about} onInput=${(/** @type {any} */ event) => setAbout(event.target.value)}></textarea></label><//>`;
}
