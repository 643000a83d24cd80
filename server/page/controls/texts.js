// Controls of switches, texts, times and JSON.

import { html, useEffect, useState } from "../vendor/preact.js";

/** @typedef {import("./panel.js").FieldGiven} FieldGiven */

/** @param {FieldGiven} given */
export const Checkbox = ({ control, id, choose }) => html`<label class="switch" for=${id}>
  <input type="checkbox" role="switch" id=${id} checked=${Boolean(control.value)} onChange=${(/** @type {any} */ event) => choose(event.target.checked)} />
  <span>${control.label}</span></label>`;

/**
 * What is typed, until it is taken by Enter or by leaving the field.
 * @param {any} value @param {(text: string) => string | null} take gives what is wrong, or null
 */
function useTyped(value, take) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [wrong, setWrong] = useState("");
  useEffect(() => { setText(null); setWrong(""); }, [JSON.stringify(value)]);
  const commit = () => {
    if (text === null) return;
    const problem = take(text);
    setWrong(problem ?? "");
    if (problem === null) setText(null);
  };
  /** @param {KeyboardEvent} event @param {boolean} lines */
  const keys = (event, lines) => {
    if (event.key === "Enter" && (!lines || event.ctrlKey || event.metaKey)) { event.preventDefault(); commit(); }
    if (event.key === "Escape" && text !== null) { event.stopPropagation(); setText(null); setWrong(""); }
  };
  return { text, setText, wrong, commit, keys };
}

/** @param {FieldGiven} given */
export function TextField({ control, id, refused, choose }) {
  const lines = control.widget === "textarea";
  const typed = useTyped(control.value, (text) => {
    const blank = !text.trim();
    if (blank && !control.nullable && text) return "The text has only blanks.";
    const value = blank && control.nullable ? null : text;
    if (value !== control.value) choose(value);
    return null;
  });
  const given = {
    class: "input", id, value: typed.text ?? control.value ?? "", "aria-invalid": Boolean(refused || typed.wrong), placeholder: control.nullable ? "none" : undefined,
    onInput: (/** @type {any} */ event) => typed.setText(event.target.value), onBlur: typed.commit, onKeyDown: (/** @type {KeyboardEvent} */ event) => typed.keys(event, lines),
  };
  return html`<label class="name" for=${id}>${control.label}</label>
    ${lines ? html`<textarea rows="3" ...${given}></textarea>` : html`<input type="text" autocomplete="off" ...${given} />`}
    ${typed.wrong && html`<div class="hint wrong" role="alert">${typed.wrong}</div>`}`;
}

/** @param {FieldGiven} given */
export function JsonField({ control, id, choose }) {
  const typed = useTyped(control.value, (text) => {
    try {
      const value = JSON.parse(text);
      if (JSON.stringify(value) !== JSON.stringify(control.value)) choose(value);
      return null;
    } catch (error) {
      return `This is not JSON: ${/** @type {Error} */ (error).message}.`;
    }
  });
  const present = typed.text ?? JSON.stringify(control.value, null, 1).replace(/\n\s*/g, " ");
  return html`<label class="name" for=${id}>${control.label}</label>
    <textarea class="input" rows="2" spellcheck="false" id=${id} aria-invalid=${Boolean(typed.wrong)} value=${present} onInput=${(/** @type {any} */ event) => typed.setText(event.target.value)}
      onBlur=${typed.commit} onKeyDown=${(/** @type {KeyboardEvent} */ event) => typed.keys(event, true)}></textarea>
    ${typed.wrong && html`<div class="hint wrong" role="alert">${typed.wrong}</div>`}`;
}

/** @param {FieldGiven} given */
export const DateField = ({ control, id, refused, choose }) => html`<label class="name" for=${id}>${control.label}</label>
  <input class="input" type="date" id=${id} aria-invalid=${Boolean(refused)} value=${control.value ?? ""}
    onChange=${(/** @type {any} */ event) => { if (event.target.value) choose(event.target.value); }} />`;

/** A date and a time; the zone of the text stays as it is. @param {FieldGiven} given */
export function DateTime({ control, id, refused, choose }) {
  const found = /^(\d{4}-\d\d-\d\d)([T ])(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(.*)$/.exec(control.value ?? "");
  const [, day, between, time, zone] = found ?? ["", "", "T", "", ""];
  return html`<label class="name" for=${id}>${control.label}${zone && html`<span class="soft small">${zone === "Z" ? "UTC" : zone}</span>`}</label>
    <input class="input" type="datetime-local" step="1" id=${id} aria-invalid=${Boolean(refused)} value=${found ? `${day}T${time}` : ""}
      onChange=${(/** @type {any} */ event) => {
        const text = event.target.value;
        if (text) choose(`${text.slice(0, 10)}${between}${text.slice(11).padEnd(8, ":00")}${zone}`);
      }} />`;
}
