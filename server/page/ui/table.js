// A table that sorts and filters. Only the rows that are seen are in the page.

import { html, useMemo, useRef, useState } from "../vendor/preact.js";
import { cell, count, day, many } from "../core/words.js";
import { Icon } from "./icons.js";

const ROW = 33;
const SEEN = 60;
const CUT = 26;

/** @typedef {{ key: string, label: string, number?: boolean, zone?: string, show?: (row: any) => any, sort?: boolean, text?: (row: any) => string }} Column */

/** A column of moments. They are in the time zone of the browser, which may not be the lab's: the heading names it. @param {string} key @param {string} label @param {(row: any, when: string) => any} [show] @returns {Column} */
export function moments(key, label, show = (_, when) => when) {
  const shown = (/** @type {any} */ row) => show(row, day(row[key], true));
  return { key, label, show: shown, text: shown, zone: Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ") };
}

/** A text as it is sought: without the spaces of numbers. @param {string} text */
const soughtAs = (text) => text.toLowerCase().replaceAll("\u202f", "");

/** A text that its column may cut, for the pointer. @param {any} value */
const whole = (value) => (typeof value === "string" && value.length > CUT ? value : undefined);

/** What is empty comes last in either direction. @param {any} a @param {any} b @param {boolean} down */
function compare(a, b, down) {
  if ((a ?? "") === "") return (b ?? "") === "" ? 0 : 1;
  if ((b ?? "") === "") return -1;
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
  return down ? -order : order;
}

/**
 * Rows that are all here, sorted and filtered in the page.
 * @param {{ label: string, columns: Column[], rows: any[], height?: number, filter?: boolean }} given
 */
export function DataTable({ label, columns, rows, height = 420, filter = true }) {
  const [sort, setSort] = useState(/** @type {{ key: string, down: boolean } | null} */ (null));
  const [text, setText] = useState("");
  const sought = soughtAs(text.trim());
  const shown = useMemo(() => {
    const found = sought ? rows.filter((row) => columns.some((one) => soughtAs(one.text ? one.text(row) : cell(row[one.key])).includes(sought))) : rows;
    if (!sort) return found;
    return [...found].sort((a, b) => compare(a[sort.key], b[sort.key], sort.down));
  }, [rows, sort, sought]);
  return html`<div class="stack">
    ${filter && rows.length > 8 && html`<div class="spread"><input class="input filter" type="search" placeholder="Filter" aria-label=${`Filter ${label}`} value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} />
      <span class="soft small" role="status">${sought ? `${count(shown.length)} of ${many(rows.length, "row")}` : many(rows.length, "row")}</span></div>`}
    <${Rows} label=${label} columns=${columns} rows=${shown} height=${height} sort=${sort} setSort=${setSort} /></div>`;
}

/**
 * The frame of a table, with only the rows in sight.
 * @param {{ label: string, columns: Column[], rows: any[], height: number, sort: { key: string, down: boolean } | null, setSort: (sort: { key: string, down: boolean } | null) => void, total?: number, reach?: (last: number) => void }} given
 */
export function Rows({ label, columns, rows, height, sort, setSort, total = rows.length, reach }) {
  const [top, setTop] = useState(0);
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const first = Math.max(0, Math.min(Math.floor(top / ROW) - 10, total - SEEN));
  const last = Math.min(total, first + SEEN);
  /** @param {any} event */
  const scrolled = (event) => { setTop(event.target.scrollTop); reach?.(Math.ceil((event.target.scrollTop + event.target.clientHeight) / ROW)); };
  return html`<div class="table-frame" ref=${frame} tabindex="0" role="region" aria-label=${label} style=${{ maxHeight: `${height}px` }} onScroll=${scrolled}>
    <table aria-rowcount=${total + 1}><thead><tr>${columns.map((one) => html`<th key=${one.key} scope="col" class=${one.number ? "right" : ""}
        aria-sort=${sort?.key === one.key ? (sort.down ? "descending" : "ascending") : undefined}>
        ${one.sort === false ? html`<span class="th">${one.label}</span>` : html`<button type="button" onClick=${() => setSort(sort?.key === one.key ? (sort.down ? null : { key: one.key, down: true }) : { key: one.key, down: false })}>
          <span>${one.label}${one.zone && html` <small>${one.zone}</small>`}</span>${sort?.key === one.key && html`<${Icon} name=${sort.down ? "down" : "up"} size=${13} />`}</button>`}</th>`)}</tr></thead>
      <tbody>${first > 0 && html`<tr aria-hidden="true"><td colspan=${columns.length} style=${{ height: `${first * ROW}px`, padding: 0 }}></td></tr>`}
        ${Array.from(rows.slice(first, last), (row, n) => html`<tr key=${row?.id ?? first + n} aria-rowindex=${first + n + 2}>${columns.map((one) => html`<td key=${one.key} class=${one.number ? "right" : ""} title=${whole(row?.[one.key])}>${one.show ? one.show(row) : cell(row?.[one.key])}</td>`)}</tr>`)}
        ${total > last && html`<tr aria-hidden="true"><td colspan=${columns.length} style=${{ height: `${(total - last) * ROW}px`, padding: 0 }}></td></tr>`}</tbody></table></div>`;
}
