// Controls of numbers. A number is typed as text, since a number field of a browser drops what it does not know.

import { html, useEffect, useState } from "../vendor/preact.js";
import { cell } from "../core/words.js";

/** @typedef {import("./panel.js").FieldGiven} FieldGiven */
/** @typedef {import("../plot/live.js").Control} Control */

/** @param {number} value @param {Control} control */
export function shown(value, control) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  const decimals = /^\.(\d+)f$/.exec(control.format ?? "")?.[1];
  const text = decimals === undefined || control.integer ? String(value) : value.toFixed(Number(decimals));
  return Number(text) === value ? text : String(value);
}

const BLANKS = "[ \\u00a0\\u2009\\u202f]";
const GROUPED = new RegExp(`^[+-]?\\d{1,3}(?:${BLANKS}\\d{3})+(?!\\d|${BLANKS})`);
const WRITTEN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?$/i;

/**
 * The number that a text is, or what is wanted instead: by the rule of read_number in workbench/notebook.
 * @param {string} text @param {Control} control @returns {{ value?: number, wrong?: string }}
 */
export function parsed(text, control) {
  const typed = text.trim().replace("\u2212", "-");
  const grouped = GROUPED.exec(typed)?.[0];
  const joined = grouped === undefined ? typed : grouped.replace(new RegExp(BLANKS, "g"), "") + typed.slice(grouped.length);
  const [, head, tail, power] = /^([+-]?\d+),(\d+)((?:e[+-]?\d{1,4})?)$/i.exec(joined) ?? [];
  if (head !== undefined && tail.length === 3 && !power && /^[+-]?[1-9]\d{0,2}$/.test(head))
    return { wrong: `This can mean ${head}.${tail} or ${head}${tail}. Type one of them.` };
  const written = head === undefined ? joined : `${head}.${tail}${power}`;
  const value = WRITTEN.test(written) ? Number(written) : NaN;
  if (!Number.isFinite(value)) return { wrong: "This needs a number, such as 0.5 or 1e-3." };
  if (control.integer && !Number.isInteger(value)) return { wrong: "This needs a whole number." };
  if (control.integer && !Number.isSafeInteger(value)) return { wrong: "This whole number is too large for a page. A notebook takes it." };
  if (control.min !== null && control.min !== undefined && value < control.min) return { wrong: `The least is ${control.min}.` };
  if (control.max !== null && control.max !== undefined && value > control.max) return { wrong: `The most is ${control.max}.` };
  return { value };
}

/**
 * A field for one number; Enter or leaving it takes what is typed, the arrows go by a step.
 * @param {{ control: Control, id: string, value: any, label?: string, disabled?: boolean, refused?: string, take: (value: number) => void }} given
 */
export function NumberText({ control, id, value, label, disabled, refused, take }) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [wrong, setWrong] = useState("");
  useEffect(() => { setText(null); setWrong(""); }, [value]);
  /** @param {string} typed */
  const commit = (typed) => {
    const found = parsed(typed, control);
    setWrong(found.wrong ?? "");
    if (found.value === undefined) return;
    setText(null);
    if (found.value !== value) take(found.value);
  };
  /** @param {any} event */
  const keys = (event) => {
    if (event.key === "Enter") commit(event.target.value);
    if (event.key === "Escape" && text !== null) { event.stopPropagation(); setText(null); setWrong(""); }
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    const from = parsed(event.target.value, { ...control, min: null, max: null }).value ?? (typeof value === "number" ? value : control.min ?? 0);
    const to = from + (event.key === "ArrowUp" ? 1 : -1) * (control.step ?? 1) * (event.shiftKey ? 10 : 1);
    commit(shown(Number(Math.min(control.max ?? Infinity, Math.max(control.min ?? -Infinity, to)).toPrecision(12)), control));
  };
  return html`<input class="input number" id=${id} inputmode=${control.integer ? "numeric" : "decimal"} autocomplete="off" aria-label=${label} disabled=${disabled}
      aria-invalid=${Boolean(wrong || refused)} aria-describedby=${wrong ? `${id}-local` : undefined} value=${text ?? shown(value, control)}
      onInput=${(/** @type {any} */ event) => setText(event.target.value)} onBlur=${() => { if (text !== null) commit(text); }} onKeyDown=${keys} />
    ${wrong && html`<div class="hint wrong" role="alert" id=${`${id}-local`}>${wrong}</div>`}`;
}

/** @param {FieldGiven} given */
export const NumberField = ({ control, id, refused, choose }) => html`<label class="name" for=${id}>${control.label}
    <span class="soft small">${bounds(control)}</span></label>
  <${NumberText} control=${control} id=${id} value=${control.value} refused=${refused} take=${choose} />`;

/** @param {Control} control */
function bounds({ min, max }) {
  const low = min ?? null;
  const high = max ?? null;
  if (low !== null && high !== null) return `${cell(low)} to ${cell(high)}`;
  return low !== null ? `from ${cell(low)}` : high !== null ? `to ${cell(high)}` : "";
}

/** @param {FieldGiven} given */
export function Slider({ control, id, refused, choose }) {
  const [moving, setMoving] = useState(/** @type {number | null} */ (null));
  useEffect(() => setMoving(null), [control.value]);
  const value = moving ?? (typeof control.value === "number" ? control.value : control.min);
  /** @param {any} event */
  const moved = (event) => { setMoving(Number(event.target.value)); if (control.kind === "view") choose(Number(event.target.value), { moving: true }); };
  return html`<label class="name" for=${id}>${control.label}</label>
    <div class="slide"><input type="range" id=${id} min=${control.min} max=${control.max} step=${control.step} value=${value} aria-invalid=${Boolean(refused)}
        aria-valuetext=${shown(Number(value), control)} onInput=${moved} onChange=${(/** @type {any} */ event) => choose(Number(event.target.value))} />
      <div><${NumberText} control=${control} id=${`${id}-number`} label=${`${control.label}, as a number`} value=${value} take=${choose} /></div></div>`;
}

/** @param {FieldGiven} given */
export function RangeSlider({ control, id, choose }) {
  const [moving, setMoving] = useState(/** @type {number[] | null} */ (null));
  useEffect(() => setMoving(null), [JSON.stringify(control.value)]);
  const [low, high] = moving ?? (Array.isArray(control.value) ? control.value : [control.min, control.max]);
  const min = control.min ?? 0;
  const max = control.max ?? 1;
  /** @param {number} end @param {number} value @returns {[number, number]} */
  const pair = (end, value) => (end ? [low, Math.max(low, value)] : [Math.min(high, value), high]);
  /** @param {number} end @param {boolean} done */
  const moved = (end, done) => (/** @type {any} */ event) => {
    const made = pair(end, Number(event.target.value));
    event.target.value = made[end];
    setMoving(made);
    if (done || control.kind === "view") choose(made, { moving: !done });
  };
  /** @param {number} value */
  const share = (value) => (100 * (value - min)) / (max - min || 1);
  return html`<fieldset aria-labelledby=${`${id}-name`}><div class="name" id=${`${id}-name`}>${control.label}</div>
    <div class="slide two"><div class="rail"><div class="between" style=${{ left: `${share(low)}%`, width: `${Math.max(0, share(high) - share(low))}%` }}></div>
      ${["from", "to"].map((word, end) => html`<input key=${word} type="range" aria-label=${`${control.label}, ${word}`} min=${min} max=${max} step=${control.step}
        value=${end ? high : low} aria-valuetext=${shown(end ? high : low, control)} onInput=${moved(end, false)} onChange=${moved(end, true)} />`)}</div>
    <div class="ends"><div><${NumberText} control=${{ ...control, max: high }} id=${`${id}-low`} label=${`${control.label}, from, as a number`} value=${low} take=${(/** @type {number} */ value) => choose([value, high])} /></div>
      <span class="soft">to</span>
      <div><${NumberText} control=${{ ...control, min: low }} id=${`${id}-high`} label=${`${control.label}, to, as a number`} value=${high} take=${(/** @type {number} */ value) => choose([low, value])} /></div></div></div></fieldset>`;
}

/** A number, or none: then the script decides. @param {FieldGiven} given */
export function Optional({ control, id, refused, choose }) {
  const [last, setLast] = useState(control.value ?? control.min ?? 0);
  useEffect(() => { if (control.value !== null) setLast(control.value); }, [control.value]);
  const auto = control.value === null || control.value === undefined;
  return html`<fieldset aria-labelledby=${`${id}-name`}><div class="name" id=${`${id}-name`}>${control.label}<span class="soft small">${bounds(control)}</span></div>
    <div class="optional"><label><input type="checkbox" checked=${auto} onChange=${(/** @type {any} */ event) => choose(event.target.checked ? null : last)} /> automatic</label>
      <div><${NumberText} control=${control} id=${id} label=${control.label} disabled=${auto} value=${auto ? null : control.value} refused=${refused} take=${choose} /></div></div></fieldset>`;
}
