// Tabs: the list of them, and the panel of the one that is chosen. The keys are those of the ARIA pattern "Tabs".

import { html, useId } from "../vendor/preact.js";

/** @typedef {{ key: string, word: string, count?: number, wrong?: boolean }} Tab */

/** The place of the tab that a key leads to; undefined for other keys. @param {string} key @param {number} at @param {number} many @returns {number | undefined} */
const ledTo = (key, at, many) => (/** @type {Record<string, number>} */ ({ ArrowRight: (at + 1) % many, ArrowLeft: (at + many - 1) % many, Home: 0, End: many - 1 }))[key];

/**
 * `at` is the key of the chosen tab. With `bare` the panel itself takes no focus: the first thing in it does.
 * @param {{ label: string, tabs: Tab[], at: string, choose: (key: any) => void, bare?: boolean, panel?: string, gap?: number, children: any }} given
 */
export function Tabs({ label, tabs, at, choose, bare, panel = "", gap = 0, children }) {
  const id = useId().replace(/\W/g, "");
  const now = Math.max(0, tabs.findIndex((one) => one.key === at));
  /** @param {any} event */
  const keys = (event) => {
    const next = ledTo(event.key, now, tabs.length);
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(tabs[next].key);
    event.currentTarget.children[next].focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} style=${gap ? { marginBottom: `${gap}px` } : undefined} onKeyDown=${keys}>${tabs.map((one, n) => html`<button
      key=${one.key} id=${`${id}-${n}`} type="button" role="tab" aria-selected=${n === now} aria-controls=${id} tabindex=${n === now ? 0 : -1} onClick=${() => choose(one.key)}>${one.word}${one.count ? html` <span class=${`count ${one.wrong ? "wrong" : ""}`}>${one.count}</span>` : ""}</button>`)}</div>
    <div id=${id} class=${panel} role="tabpanel" aria-labelledby=${`${id}-${now}`} tabindex=${bare ? undefined : 0}>${children}</div>`;
}
