// Parts of every page: menus, dialogs, toasts, and the states in which there is nothing to show.

import { html, signal, useEffect, useId, useLayoutEffect, useRef } from "../vendor/preact.js";
import { Refused, isAbort } from "../core/api.js";
import { Icon } from "./icons.js";

// Toasts

/** @type {import("../vendor/preact.js").Signal<{ id: number, text: string, wrong: boolean }[]>} */
const toasts = signal([]);
let numbers = 0;

/** Say a sentence in the corner for some seconds, or with `stay` until what is returned is called. @param {string} text @param {{ wrong?: boolean, stay?: boolean }} [how] */
export function say(text, how = {}) {
  const id = ++numbers;
  const away = () => { toasts.value = toasts.value.filter((one) => one.id !== id); };
  toasts.value = [...toasts.value.slice(-3), { id, text, wrong: Boolean(how.wrong) }];
  if (!how.stay) setTimeout(away, how.wrong ? 9000 : 4500);
  return away;
}

/** Say what the server refused. @param {unknown} error */
export function sayError(error) {
  if (isAbort(error)) return;
  if (!(error instanceof Refused)) console.error(error);
  say(error instanceof Error ? error.message : String(error), { wrong: true });
}

export const Toasts = () => html`<div class="toasts" role="status" aria-live="polite">
  ${toasts.value.map((one) => html`<div key=${one.id} class=${`toast ${one.wrong ? "wrong" : ""}`}>${one.text}</div>`)}
</div>`;

// States

/** @param {{ icon?: import("./icons.js").IconName, title: string, children?: any, action?: any }} given */
export const Empty = ({ icon = "chart", title, children, action }) => html`<div class="empty">
  <${Icon} name=${icon} size=${40} /><h2>${title}</h2>${children && html`<p>${children}</p>`}${action}
</div>`;

/** What the server said instead of an answer. @param {{ error: any, again?: () => void }} given */
export function Failed({ error, again }) {
  if (error?.status === 404) {
    return html`<${Empty} icon="search" title="Nothing to see here">
      This does not exist, or your key has no role in its project. Ask an administrator of the project for one.
    <//>`;
  }
  return html`<div class="stack" role="alert">
    <div class="note wrong"><${Icon} name="warn" /><div><strong>${error?.message ?? String(error)}</strong>
      ${problemsOf(error).map((one) => html`<div class="small">${one}</div>`)}</div></div>
    ${again && html`<div><button class="button" type="button" onClick=${again}><${Icon} name="refresh" /> Try again</button></div>`}
  </div>`;
}

/** The further problems of a refusal, as sentences. @param {any} error @returns {string[]} */
export function problemsOf(error) {
  const found = Array.isArray(error?.detail) ? error.detail : [];
  return found.filter((/** @type {any} */ one) => one?.msg && !error.message.endsWith(one.msg)).map(placed);
}

/** @param {any} problem */
function placed({ loc, msg }) {
  const place = (loc ?? []).filter((/** @type {any} */ part) => part !== "config" && part !== "body").join(" · ");
  return place ? `${place}: ${msg}` : msg;
}

/** @param {{ height?: number }} given */
export const Ghost = ({ height = 120 }) => html`<div class="ghost" style=${{ height: `${height}px` }}></div>`;
/** @param {{ rows?: number, height?: number }} given */
export const Ghosts = ({ rows = 3, height = 44 }) => html`<div class="stack" aria-busy="true">
  ${Array.from({ length: rows }, (_, n) => html`<${Ghost} key=${n} height=${height} />`)}</div>`;

// What floats over the page

/**
 * A button that opens a panel or a menu beside it; with `named` its text is its name.
 * @param {{ label: any, title?: string, named?: boolean, panel?: boolean, children: any, onOpen?: () => void, buttonClass?: string }} given
 */
export function Popover({ label, title, named, panel, children, onOpen, buttonClass = "button" }) {
  const id = useId().replace(/\W/g, "");
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const float = useRef(/** @type {any} */ (null));
  const open = useRef(signal(false)).current;
  useLayoutEffect(() => {
    const node = float.current;
    /** @param {any} event */
    const toggled = (event) => {
      open.value = event.newState === "open";
      if (!open.value) return;
      onOpen?.();
      requestAnimationFrame(() => { if (button.current) beside(node, button.current); });
    };
    const moved = () => { if (open.value && button.current) beside(node, button.current); };
    node.addEventListener("toggle", toggled);
    addEventListener("resize", moved);
    addEventListener("scroll", moved, { passive: true });
    const grown = new ResizeObserver(moved); // what it shows may come later
    grown.observe(node);
    return () => { grown.disconnect(); node.removeEventListener("toggle", toggled); removeEventListener("resize", moved); removeEventListener("scroll", moved); };
  }, []);
  /** @param {KeyboardEvent} event */
  const keys = (event) => {
    if (panel || !float.current.matches(":popover-open") || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    const items = [...float.current.querySelectorAll("button:not(:disabled), a")];
    const at = items.indexOf(document.activeElement);
    items.at((at + (event.key === "ArrowDown" ? 1 : items.length - 1 + (at < 0 ? 1 : 0))) % items.length)?.focus();
  };
  return html`
    <button ref=${button} type="button" class=${buttonClass} title=${title} aria-label=${named ? undefined : title} aria-haspopup=${panel ? "dialog" : "menu"}
      aria-expanded=${open.value} popovertarget=${id} onKeyDown=${keys}>${label}</button>
    <div ref=${float} id=${id} popover="auto" class=${`float ${panel ? "panel" : "menu"}`} role=${panel ? "dialog" : "group"} aria-label=${title}
      onKeyDown=${keys} onClick=${(/** @type {any} */ event) => { if (!panel && event.target.closest("button, a")) float.current.hidePopover(); }}>
      ${open.value || !panel ? children : null}</div>`;
}

/** @param {HTMLElement} node @param {HTMLElement} button */
function beside(node, button) {
  const at = button.getBoundingClientRect();
  const wide = document.body.getBoundingClientRect().right; // without the scroll bar
  const left = Math.max(8, Math.min(at.left, wide - node.offsetWidth - 8));
  const below = at.bottom + 6 + node.offsetHeight <= innerHeight || at.top < innerHeight / 2;
  node.style.left = `${left}px`;
  node.style.top = below ? `${at.bottom + 6}px` : `${Math.max(8, at.top - 6 - node.offsetHeight)}px`;
}

/** Open a dialog while it is in the page. @param {{ current: HTMLDialogElement | null }} node */
export function useModal(node) {
  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    const dialog = node.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before?.isConnected && before !== document.body) before.focus(); // who works by keyboard goes on where they were
      else document.getElementById("content")?.focus({ preventScroll: true });
    };
  }, []);
}

/** Puts the focus on what appears: its `ref`. @param {HTMLElement | null} node */
export const focused = (node) => node?.focus();

/**
 * A dialog that is open while it is in the page.
 * @param {{ title: string, onClose?: () => void, wide?: boolean, children: any, foot?: any, form?: (event: Event) => void }} given
 */
export function Dialog({ title, onClose, wide, children, foot, form }) {
  const node = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId().replace(/\W/g, "");
  useModal(node);
  const body = html`<div class="dialog-body">${children}</div>${foot && html`<div class="dialog-foot">${foot}</div>`}`;
  /** @param {Event} event */
  const submitted = (event) => { event.preventDefault(); form?.(event); };
  return html`<dialog ref=${node} class=${wide ? "wide" : ""} aria-labelledby=${id}
      onCancel=${(/** @type {Event} */ event) => { if (!onClose) event.preventDefault(); else onClose(); }}>
    <div class="dialog-head"><h2 id=${id}>${title}</h2>
      ${onClose && html`<button type="button" class="button plain icon" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>`}</div>
    ${form ? html`<form onSubmit=${submitted}>${body}</form>` : body}
  </dialog>`;
}

/** Ask for yes or no. @param {{ title: string, text: any, yes: string, danger?: boolean, onYes: () => any, onClose: () => void }} given */
export const Confirm = ({ title, text, yes, danger, onYes, onClose }) => html`<${Dialog} title=${title} onClose=${onClose}
  foot=${html`<button type="button" class="button" onClick=${onClose}>Cancel</button>
    <button type="button" class=${`button ${danger ? "danger" : "main"}`} onClick=${onYes}>${yes}</button>`}><p>${text}</p><//>`;

/** Copy a text. @param {string} text @param {string} what */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea"); // a page without https has no clipboard
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`${what} copied.`);
}

/** Hand a file to the browser. @param {Blob} blob @param {string} name */
export function hand(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
