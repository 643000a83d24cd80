// The address of the page: which page it is, and the values that it carries.

import { signal } from "../vendor/preact.js";

/** @typedef {{ path: string, parts: string[], query: URLSearchParams }} Place */

/** @returns {Place} */
function here() {
  const { pathname, search } = location;
  return { path: pathname, parts: pathname.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(search) };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const place = signal(here());

/** What asks before the page is left, by a link, Back or Forward; false keeps it. A reload is asked by the browser. @type {{ ask: null | (() => boolean) }} */
export const leaving = { ask: null };

/** Go to an address of this page. @param {string} address @param {{ replace?: boolean }} [how] */
export function go(address, how = {}) {
  if (leaving.ask && new URL(address, location.href).pathname !== location.pathname && !leaving.ask()) return;
  if (address !== location.pathname + location.search) {
    history[how.replace ? "replaceState" : "pushState"](null, "", address);
  }
  const before = place.value.path;
  place.value = here();
  if (before !== place.value.path) scrollTo(0, 0);
}

/** Change one part of the query. @param {Record<string, string | null>} changes @param {{ replace?: boolean }} [how] */
export function setQuery(changes, how) {
  const query = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  go(location.pathname + (text ? `?${text}` : ""), how);
}

export function listen() {
  addEventListener("popstate", () => {
    const { path, query } = place.peek();
    if (leaving.ask && path !== location.pathname && !leaving.ask()) history.pushState(null, "", path + (query.size ? `?${query}` : ""));
    else place.value = here();
  });
  addEventListener("beforeunload", (event) => { if (leaving.ask) event.preventDefault(); });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    const address = link?.getAttribute("href") ?? "";
    if (!link || link.hasAttribute("download") || link.getAttribute("target") || !/^\/(?!\/)/.test(address)) return;
    event.preventDefault();
    go(address);
  });
}

/** JSON of the query; null where it is absent or is not an object. @param {string | null} text @returns {Record<string, any> | null} */
export function readValues(text) {
  if (!text) return null;
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** The day whose data the address asks for, as text; null for today's. */
export const asOf = () => place.peek().query.get("as_of") || null;

/** @param {Record<string, any>} values */
export const writeValues = (values) => (Object.keys(values).length ? JSON.stringify(values) : null);

/** @param {any} a @param {any} b */
export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
