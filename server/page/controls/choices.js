// Controls with choices.

import { html, useRef, useState } from "../vendor/preact.js";
import { same } from "../core/router.js";

/** @typedef {import("./panel.js").FieldGiven} FieldGiven */

const NONE = { value: null, label: "none", available: true };

/** The choices; one that may be absent has "none" first. @param {import("./panel.js").Control} control */
function choicesOf(control) {
  const given = control.options ?? [];
  const nullable = control.nullable && !control.multiple && !given.some((one) => one.value === null);
  return nullable ? [NONE, ...given] : given;
}

/** @param {FieldGiven} given */
export function Toggles({ control, id, choose }) {
  return html`<fieldset role="radiogroup" aria-labelledby=${`${id}-name`}><div class="name" id=${`${id}-name`}>${control.label}</div>
    <div class="choices">${choicesOf(control).map((one, n) => html`<label key=${n}><input type="radio" name=${id} checked=${same(one.value, control.value)}
      disabled=${control.disabled} onChange=${() => choose(one.value)} /><span>${one.label}</span></label>`)}</div></fieldset>`;
}

/** @param {FieldGiven} given */
export function Dropdown({ control, id, refused, choose }) {
  const choices = choicesOf(control);
  const at = choices.findIndex((one) => same(one.value, control.value));
  return html`<label class="name" for=${id}>${control.label}</label>
    <select class="input" id=${id} disabled=${control.disabled} aria-invalid=${Boolean(refused)} aria-describedby=${refused ? `${id}-wrong` : undefined}
      onChange=${(/** @type {any} */ event) => choose(choices[event.target.value].value)}>
      ${at < 0 && html`<option value="" selected disabled></option>`}
      ${choices.map((one, n) => html`<option key=${n} value=${n} selected=${n === at}>${one.label}</option>`)}
    </select>`;
}

/** One of many, found by typing. @param {FieldGiven} given */
export function Combobox({ control, id, choose }) {
  const choices = choicesOf(control);
  const present = choices.find((one) => same(one.value, control.value))?.label ?? "";
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [at, setAt] = useState(0);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  /** @param {string} sought */
  const matching = (sought) => choices.filter((one) => one.label.toLowerCase().includes(sought.toLowerCase())).slice(0, 100);
  const found = text === null ? [] : matching(text);
  /** @param {any} one */
  const take = (one) => { setText(null); choose(one.value); };
  /** @param {any} event */
  const keys = (event) => {
    // Enter may come before the page shows what was typed last.
    const typed = event.target.value === (text ?? present) ? found[at] : matching(event.target.value)[0];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (text === null) { setText(""); setAt(0); } else setAt(Math.max(0, Math.min(found.length - 1, at + (event.key === "ArrowDown" ? 1 : -1))));
    } else if (event.key === "Enter" && typed && (text !== null || event.target.value !== present)) { event.preventDefault(); take(typed); }
    else if (event.key === "Escape" && text !== null) { event.preventDefault(); event.stopPropagation(); setText(null); }
  };
  return html`<label class="name" for=${id}>${control.label}</label>
    <div class="combo"><input ref=${input} class="input" id=${id} role="combobox" autocomplete="off" aria-expanded=${text !== null} aria-controls=${`${id}-list`}
      aria-activedescendant=${text !== null && found[at] ? `${id}-${at}` : undefined} disabled=${control.disabled} placeholder=${control.placeholder}
      value=${text ?? present} onFocus=${(/** @type {any} */ event) => event.target.select()}
      onInput=${(/** @type {any} */ event) => { setText(event.target.value); setAt(0); }} onKeyDown=${keys} onClick=${() => { if (text === null) setText(""); }}
      onBlur=${() => setText(null)} />
      <div class="list" role="listbox" id=${`${id}-list`} aria-label=${control.label} hidden=${text === null}>
        ${found.map((one, n) => html`<div key=${n} id=${`${id}-${n}`} role="option" aria-selected=${n === at}
          onPointerDown=${(/** @type {Event} */ event) => { event.preventDefault(); take(one); }}>${one.label}</div>`)}
        ${text !== null && !found.length && html`<div class="hint">Nothing has this text.</div>`}</div></div>
    <div class="hint">${control.placeholder}</div>`;
}

/** The chosen values; those that are not among the choices stay. @param {import("./panel.js").Control} control @param {any} value @param {boolean} on */
function toggled(control, value, on) {
  const now = Array.isArray(control.value) ? control.value : [];
  const order = (control.options ?? []).map((one) => one.value);
  const chosen = on ? [...now, value] : now.filter((one) => !same(one, value));
  const rest = chosen.filter((one) => !order.some((other) => same(other, one)));
  return [...rest, ...order.filter((one) => chosen.some((other) => same(other, one)))];
}

/** @param {import("./panel.js").Control} control @param {any} value */
const isChosen = (control, value) => Array.isArray(control.value) && control.value.some((one) => same(one, value));

/** @param {FieldGiven} given */
export function ToggleMultiple({ control, id, choose }) {
  return html`<fieldset aria-labelledby=${`${id}-name`}><div class="name" id=${`${id}-name`}>${control.label}</div>
    <div class="choices">${(control.options ?? []).map((one, n) => html`<label key=${n}><input type="checkbox" checked=${isChosen(control, one.value)}
      onChange=${(/** @type {any} */ event) => choose(toggled(control, one.value, event.target.checked))} /><span>${one.label}</span></label>`)}</div></fieldset>`;
}

/** Any of several, with a filter where they are many. @param {FieldGiven} given */
export function ManyChoices({ control, id, choose }) {
  const [filter, setFilter] = useState("");
  const all = control.options ?? [];
  const seen = all.filter((one) => one.label.toLowerCase().includes(filter.toLowerCase()));
  const chosen = all.filter((one) => isChosen(control, one.value)).length;
  const filtered = control.widget === "filtered_select_multiple";
  /** @param {boolean} on */
  const every = (on) => {
    const others = all.filter((one) => isChosen(control, one.value) && !seen.includes(one)).map((one) => one.value);
    choose([...others, ...(on ? seen.map((one) => one.value) : [])]);
  };
  return html`<fieldset aria-labelledby=${`${id}-name`} disabled=${control.disabled}>
    <div class="name" id=${`${id}-name`}>${control.label}<span class="soft small">${chosen} of ${all.length}</span></div>
    ${filtered && html`<input class="input" type="search" placeholder="Filter" aria-label=${`Filter ${control.label}`} value=${filter}
      onInput=${(/** @type {any} */ event) => setFilter(event.target.value)} />`}
    <div class="list" tabindex="0" role="group" aria-label=${`Choices of ${control.label}`}>${seen.map((one) => html`<label key=${JSON.stringify(one.value)}>
      <input type="checkbox" checked=${isChosen(control, one.value)} onChange=${(/** @type {any} */ event) => choose(toggled(control, one.value, event.target.checked))} />
      <span>${one.label}</span></label>`)}
      ${!seen.length && html`<div class="hint">Nothing to choose from.</div>`}</div>
    ${control.all_none && html`<div class="list-tools">
      <button type="button" onClick=${() => every(true)}>${filter ? "All shown" : "All"}</button>
      <button type="button" onClick=${() => every(false)}>${filter ? "None shown" : "None"}</button></div>`}
  </fieldset>`;
}
