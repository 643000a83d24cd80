// From a sentence to a draft: the built-in author, or a language model of one's own by copying and pasting.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { showAnswer } from "../answer_view.js";
import { isAbort, part, post } from "../core/api.js";
import { copy, say, sayError } from "../ui/parts.js";
import { Parts } from "./compare.js";
import { textsOf } from "./texts.js";

/** @typedef {{ name: string, config: any }} Draft */
/** @typedef {{ say: string, draft: Draft | null, problems: { msg: string }[], warnings: { message: string }[], hints: { message: string }[], numbers: { text: string } | null, words: string }} Checked */
/** @typedef {{ draft: Draft, session: string | null }} Taken a draft as it was put into the editor, and the session that keeps it */

/**
 * `given` gives what a wish would change, or null, and `isSaved` whether that is the saved plot; `take` puts a draft into the editor.
 * @param {{ project: string, board: string, record: any, isSaved: boolean, given: () => Draft | null, take: (taken: Taken) => void }} asked
 */
export function FromSentence({ project, board, record, isSaved, given, take }) {
  const [wish, setWish] = useState("");
  const [pasting, setPasting] = useState(false);
  const [answer, setAnswer] = useState("");
  const [busy, setBusy] = useState("");
  const [checked, setChecked] = useState(/** @type {Checked | null} */ (null));
  const [before, setBefore] = useState(/** @type {Draft | null} */ (null));
  const session = useRef(/** @type {string | null} */ (null));
  /** The last draft, if it is unsound: the edits of the next answer change it, else what is in the editor. */
  const sent = useRef(/** @type {Draft | null} */ (null));
  const stop = useRef(/** @type {AbortController | null} */ (null));
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useEffect(() => () => stop.current?.abort(), []);
  useEffect(() => { if (pasting) field.current?.focus(); }, [pasting]);
  const at = `/projects/${part(project)}`;

  /** Open the session of a wish, or go on with it. @param {string} text @param {AbortSignal} signal */
  const begin = async (text, signal) => {
    const draft = isSaved ? null : given();
    const known = session.current ? { session_id: session.current } : {};
    const context = await post(`${at}/dashboards/${part(board)}/authoring-context`, { prompt: text, plot_id: record?.id ?? null, draft, ...known }, { signal });
    session.current = context.session_id;
    sent.current = null;
    return context;
  };
  /** @param {"user" | "assistant"} role @param {any} content */
  const keep = (role, content) => post(`/agent/sessions/${part(session.current ?? "")}/messages`, { role, content });

  /** @param {string} text what is done meanwhile @param {(signal: AbortSignal) => Promise<void>} work */
  const working = async (text, work) => {
    stop.current = new AbortController();
    setBusy(text);
    try { await work(stop.current.signal); } catch (error) { if (isAbort(error)) say("Stopped. Nothing was changed."); else sayError(error); } finally { setBusy(""); }
  };
  /** @param {Checked} found @param {Draft | null} old */
  const heard = async (found, old) => {
    const draft = found.draft;
    const sound = draft && !found.problems.length;
    if (draft) sent.current = sound ? null : draft;
    await keep("assistant", { parts: [{ type: "text", text: found.say }, ...(sound ? [{ type: "draft", draft }] : [])] });
    setChecked(found);
    setBefore(old);
    if (sound) take({ draft, session: session.current });
  };
  const draw = () => working("The author is at work …", async (signal) => {
    const old = given();
    await begin(wish.trim(), signal);
    await keep("user", { text: wish.trim() });
    await heard(await post(`${at}/authoring/proposals`, { wish: wish.trim(), draft: old }, { signal }), old);
  });
  const context = () => working("Making the context …", async (signal) => {
    const made = await begin(wish.trim(), signal);
    await keep("user", { text: wish.trim() });
    const text = `${made.system}\n\n${made.prompt}`;
    await copy(text, `The context, ${text.length} characters,`);
    setPasting(true);
  });
  const paste = () => working("The answer is checked and drawn …", async (signal) => {
    const old = given();
    if (!session.current) await begin(wish.trim() || "A pasted answer", signal);
    await heard(await post(`${at}/authoring/answers`, { answer, draft: sent.current ?? old }, { signal }), old);
  });
  /** @param {Event} event @param {() => void} act @param {boolean} ready */
  const submitted = (event, act, ready) => { event.preventDefault(); if (ready && !busy) act(); };
  const sound = checked?.draft && !checked.problems.length;

  return html`<details class="box from-sentence" aria-busy=${Boolean(busy)}><summary>From a sentence</summary><div class="pad stack">
    <form class="row" onSubmit=${(/** @type {Event} */ event) => submitted(event, draw, Boolean(wish.trim()))}>
      <input class="input" aria-label="Wish" maxlength="10000" placeholder="What should the plot show? For example: capacity fade by batch, marked below 80 %" value=${wish} onInput=${(/** @type {any} */ event) => setWish(event.target.value)} />
      <button class="button main" disabled=${Boolean(busy) || !wish.trim()} title="Ask the built-in author for the plot, or for a change of the one below">Draw</button>
      <button type="button" class="button" disabled=${Boolean(busy) || !wish.trim()} title="Copy all that a language model needs for this wish; then paste its answer" onClick=${context}>Copy the context</button>
      <button type="button" class="button" aria-expanded=${pasting} title="Check and draw the answer of a language model of your own" onClick=${() => setPasting(!pasting)}>Paste an answer</button>
      ${busy && html`<button type="button" class="button" onClick=${() => stop.current?.abort()}>Stop</button>`}</form>
    ${pasting && html`<form class="stack" onSubmit=${(/** @type {Event} */ event) => submitted(event, paste, Boolean(answer.trim()))}>
      <textarea ref=${field} class="input log" rows="5" aria-label="Answer of a language model" placeholder='{"say": "...", "draft": {"name": "...", "config": {...}}}' onInput=${(/** @type {any} */ event) => setAnswer(event.target.value)}>${answer}</textarea>
      <div><button class="button main" disabled=${Boolean(busy) || !answer.trim()}>Check and draw</button></div></form>`}
    <div role="status" class="soft small">${busy}</div>
    ${checked && html`<div class="stack" role="group" aria-label="Answer">${checked.say && html`<p class="break">${checked.say}</p>`}
      <${Found} checked=${checked} />
      ${sound ? html`<p class="soft small">The draft is in the editor below. Nothing is saved yet.</p>
          ${before && html`<details><summary>What changes</summary><${Parts} before=${textsOf(before.config)} after=${textsOf(checked.draft?.config)} /></details>
          <div><button type="button" class="button" onClick=${() => { take({ draft: before, session: null }); setChecked(null); sent.current = null; }}>Undo</button></div>`}`
        : checked.draft && html`<div><button type="button" class="button" onClick=${() => { take({ draft: /** @type {Draft} */ (checked.draft), session: null }); sent.current = null; }}>Put it into the editor to repair it</button></div>`}</div>`}
  </div></details>`;
}

/** @param {{ checked: Checked }} given */
function Found({ checked }) {
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (!host.current) return;
    host.current.replaceChildren();
    const hints = [...checked.warnings, ...checked.hints].map((one) => one.message);
    const found = { problems: checked.problems.map((one) => one.msg), words: checked.words, hints, numbers: checked.numbers?.text ?? "" };
    showAnswer(host.current, found, (text, title, copied) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "button slim", textContent: text, title });
      button.addEventListener("click", () => copy(copied, "The problems, in words for the model,"));
      return button;
    });
  }, [checked]);
  return html`<div ref=${host} class="stack"></div>`;
}
