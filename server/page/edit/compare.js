// A look at the difference: between revisions, and between two people's changes.

import { html, useState } from "../vendor/preact.js";
import { get } from "../core/api.js";
import { useLoaded } from "../core/load.js";
import { setQuery } from "../core/router.js";
import { ago, day, who } from "../core/words.js";
import { plotPath } from "../plot/live.js";
import { Dialog, Failed, Ghost } from "../ui/parts.js";
import { Tabs } from "../ui/tabs.js";
import { Difference } from "./editor.js";
import { PARTS, PART_NAMES, textsOf } from "./texts.js";

/** @param {{ before: import("./texts.js").Texts, after: import("./texts.js").Texts }} given */
export function Parts({ before, after }) {
  const changed = PARTS.filter((one) => before[one] !== after[one]);
  const [at, setAt] = useState(changed[0] ?? "transform");
  if (!changed.length) return html`<p class="soft">Both are the same.</p>`;
  return html`<div><${Tabs} label="Parts that differ" bare at=${at} choose=${setAt} tabs=${changed.map((one) => ({ key: one, word: PART_NAMES[one] }))}>
    <${Difference} key=${at} before=${before[at]} after=${after[at]} language=${at === "transform" ? "python" : "json"} label=${PART_NAMES[at]} /><//></div>`;
}

/** @param {{ project: string, home: any, record: any, number: number, texts: import("./texts.js").Texts, take: (config: any) => void }} given */
export function Compare({ project, home, record, number, texts, take }) {
  const found = useLoaded((stop) => get(`${plotPath(project, home.id, record.id)}/revisions/${number}`, { signal: stop }), [record.id, number]);
  const numbers = Array.from({ length: record.revision }, (_, n) => record.revision - n);
  return html`<section class="box pad stack" aria-label="Difference" style=${{ marginBottom: "14px" }}><div class="spread">
      <label class="row" for="against">Revision <select class="input" id="against" style=${{ width: "auto" }} onChange=${(/** @type {any} */ event) => setQuery({ compare: event.target.value })}>${numbers.map((one) => html`<option key=${one} value=${one} selected=${one === number}>${one}</option>`)}</select>
        <span class="soft small">${found.data ? `${day(found.data.created_at)} by ${who(found.data.created_by_email)}` : ""} (left) and what is in the editor (right)</span></label>
      <div class="row"><button type="button" class="button" disabled=${!found.data} onClick=${() => take(found.data.config)}>Put revision ${number} into the editor</button><button type="button" class="button plain" onClick=${() => setQuery({ compare: null })}>Close</button></div></div>
    ${found.error ? html`<${Failed} error=${found.error} />` : found.data ? html`<${Parts} key=${number} before=${textsOf(found.data.config)} after=${texts} />` : html`<${Ghost} height=${160} />`}</section>`;
}

/** @param {{ theirs: any, mine: import("./texts.js").Texts, close: () => void, takeMine: () => void, takeTheirs: () => void, keepBoth: () => void }} given */
export const ConflictDialog = ({ theirs, mine, close, takeMine, takeTheirs, keepBoth }) => html`<${Dialog} wide title="Somebody else saved meanwhile" onClose=${close}
  foot=${html`<button type="button" class="button" onClick=${keepBoth}>Keep both: mine as a copy</button><button type="button" class="button" onClick=${takeTheirs}>Take theirs</button><button type="button" class="button main" onClick=${takeMine}>Take mine, as revision ${theirs.revision + 1}</button>`}>
  <p>Revision ${theirs.revision} was saved ${ago(theirs.saved.created_at)} by ${who(theirs.saved.created_by_email)}. It is on the left, yours on the right. Nothing is lost: every revision stays in the history.</p>
  <${Parts} before=${textsOf(theirs.config)} after=${mine} /><//>`;
