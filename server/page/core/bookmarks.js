// What the user has starred, and what they opened last.

import { signal } from "../vendor/preact.js";
import { get, part, remove } from "./api.js";

/** @typedef {"dashboard" | "plot"} Kind */
/** @typedef {{ kind: Kind, id: string, name: string, project_id: string, dashboard_id: string | null, starred_at: string | null, opened_at: string | null }} Bookmark */

/** Null until they were read. */
export const bookmarks = signal(/** @type {Bookmark[] | null} */ (null));

/** @type {Promise<void> | null} */
let reading = null;

/** Read them, or with `again` once more. A page without them still works. */
export function readBookmarks(again = false) {
  if (again) reading = null;
  reading ??= get("/users/me/recent", { quiet: true }).then((found) => { bookmarks.value = found; }, () => { reading = null; });
  return reading;
}

/** Note that something was opened. @param {Kind} kind @param {string} id */
export function opened(kind, id) {
  get(`/users/me/recent/${kind}/${part(id)}`, { method: "PUT", quiet: true }).then(() => readBookmarks(true), () => null);
}

/** @param {Kind} kind @param {string} id */
export const isStarred = (kind, id) => (bookmarks.value ?? []).some((one) => one.kind === kind && one.id === id && one.starred_at !== null);

/** @param {Kind} kind @param {string} id @param {boolean} on */
export async function star(kind, id, on) {
  const at = `/users/me/stars/${kind}/${part(id)}`;
  await (on ? get(at, { method: "PUT" }) : remove(at));
  await readBookmarks(true);
}
