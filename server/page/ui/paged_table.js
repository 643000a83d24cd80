// A table of rows that are on the server: pages arrive as one scrolls, sorting and filters are the server's.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { get, isAbort, query } from "../core/api.js";
import { cell, many } from "../core/words.js";
import { Failed, Ghosts } from "./parts.js";
import { DataTable, Rows } from "./table.js";

const PAGE = 100;
const ALL_HERE = 1000;

/**
 * With few rows all of them come, and any column sorts; with many, the columns in `sorts` do.
 * @param {{ label: string, path: string, filters: Record<string, any>, columns: import("./table.js").Column[], sorts: Record<string, string>, empty: any, height?: number, filter?: boolean }} given
 */
export function PagedTable({ label, path, filters, columns, sorts, empty, height = 620, filter = true }) {
  const [sort, setSort] = useState(/** @type {{ key: string, down: boolean } | null} */ (null));
  const [state, setState] = useState(/** @type {{ rows: any[], total: number, error: any, ready: boolean }} */ ({ rows: [], total: 0, error: null, ready: false }));
  const coming = useRef(new Set()).current;
  const order = sort ? { order_by: sorts[sort.key], order: sort.down ? "desc" : "asc" } : {};
  const key = JSON.stringify([path, filters, order]);
  const now = useRef(key);
  now.current = key;
  const large = state.total > ALL_HERE;

  /** @param {number} page @param {AbortSignal} [stop] */
  const load = async (page, stop) => {
    if (coming.has(page)) return;
    coming.add(page);
    try {
      const found = await get(path + query({ ...filters, ...order, limit: PAGE, offset: page * PAGE }), { signal: stop });
      if (now.current !== key) return;
      setState((old) => {
        const rows = page ? [...old.rows] : [];
        found.items.forEach((/** @type {any} */ row, /** @type {number} */ n) => { rows[page * PAGE + n] = row; });
        return { rows, total: found.total, error: null, ready: true };
      });
      return found.total;
    } catch (error) {
      coming.delete(page);
      if (!isAbort(error) && now.current === key) setState((old) => ({ ...old, error, ready: true }));
    }
  };
  useEffect(() => {
    const stop = new AbortController();
    coming.clear();
    load(0, stop.signal).then((total) => {
      if (total && total <= ALL_HERE) for (let page = 1; page * PAGE < total; page++) load(page, stop.signal);
    });
    return () => stop.abort();
  }, [key]);

  if (state.error) return html`<${Failed} error=${state.error} />`;
  if (!state.ready) return html`<${Ghosts} rows=${6} height=${32} />`;
  if (!state.total) return empty;
  if (!large) return html`<${DataTable} label=${label} columns=${columns} rows=${state.rows.filter(Boolean)} height=${height} filter=${filter} />`;
  const shown = columns.map((one) => ({ ...one, sort: one.key in sorts, show: (/** @type {any} */ row) => (row ? (one.show ? one.show(row) : cell(row[one.key])) : "…") }));
  return html`<div class="stack"><div class="soft small" role="status">${many(state.total, "row")}. Click a column to sort where it can be sorted.</div>
    <${Rows} label=${label} columns=${shown}
      rows=${filled(state.rows, state.total)} height=${height} total=${state.total} sort=${sort} setSort=${setSort}
      reach=${(/** @type {number} */ last) => { const page = Math.floor((last - 1) / PAGE); load(Math.max(0, page - 1)); load(page); load(Math.min(Math.floor((state.total - 1) / PAGE), page + 1)); }} /></div>`;
}

/** @param {any[]} rows @param {number} total */
function filled(rows, total) {
  const made = rows.slice();
  made.length = total;
  return made;
}
