// Requests to the server that brought this page. Each carries the session's second secret, without which the cookie opens
// nothing. A session that ended and a server that is away are shown over the page, and the request goes on afterwards.

import { signal } from "../vendor/preact.js";

const TOKEN = "workbench-token";
const ASK_AGAIN_MS = 3000;

/** The user that is signed in; null: nobody; undefined: not known yet. */
export const user = signal(/** @type {any} */ (undefined));
/** Whether the session ended while the page was open. */
export const sessionOver = signal(false);
/** The name of the identity provider by which people may sign in too; empty if there is none. */
export const provider = signal("");
/** Since when the server does not answer. */
export const awaySince = signal(/** @type {Date | null} */ (null));

/** What the server refused, in its words. */
export class Refused extends Error {
  /** @param {number} status @param {string} code @param {string} message @param {any} [detail] */
  constructor(status, code, message, detail) {
    super(message);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

/** @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";

/** @param {Record<string, string>} [more] */
function headers(more) {
  const token = localStorage.getItem(TOKEN);
  return { "X-Workbench": token ?? "page", ...more };
}

/** @typedef {{ method?: string, body?: any, file?: Blob, signal?: AbortSignal, quiet?: boolean }} Asked */

/** The answer of the server, of any kind. @param {string} path @param {Asked} [asked] @returns {Promise<Response>} */
export async function ask(path, asked = {}) {
  const json = asked.body !== undefined;
  const content = json ? { "Content-Type": "application/json" } : undefined;
  let answer;
  try {
    answer = await fetch(path, {
      method: asked.method ?? (json ? "POST" : "GET"),
      headers: headers(content),
      body: json ? JSON.stringify(asked.body) : asked.file,
      signal: asked.signal,
      credentials: "same-origin",
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    // What can be stopped waits for the server. Anything else changes something: later, nobody may want that any more.
    const changes = asked.method && asked.method !== "GET" && !asked.signal;
    if (changes || asked.quiet) throw new Refused(0, "AWAY", "The server cannot be reached. Nothing was changed.");
    await backAgain(asked.signal);
    return ask(path, asked);
  }
  if (answer.ok || answer.status === 304) return answer;
  if (answer.status === 401 && user.value && path !== "/session") {
    await signedInAgain(asked.signal);
    return ask(path, asked);
  }
  const said = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, said.error_code ?? "", said.message ?? `The server answered ${answer.status}.`, said.detail);
}

/** @param {string} path @param {Asked} [asked] @returns {Promise<any>} */
export async function get(path, asked) {
  const answer = await ask(path, asked);
  return answer.status === 204 ? null : answer.json();
}

/** @param {string} path @param {any} body @param {Asked} [asked] */
export const post = (path, body, asked) => get(path, { ...asked, method: "POST", body });
/** @param {string} path @param {any} body */
export const patch = (path, body) => get(path, { method: "PATCH", body });
/** @param {string} path */
export const remove = (path) => get(path, { method: "DELETE" });

/** A part of a path, from data. @param {string} text */
export const part = (text) => encodeURIComponent(text);

/** Query text of what is given. @param {Record<string, any>} given */
export function query(given) {
  const made = new URLSearchParams();
  for (const [key, value] of Object.entries(given)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== null && one !== "") made.append(key, String(one));
  }
  const text = made.toString();
  return text ? `?${text}` : "";
}

// The session

export async function whoIsThere() {
  const { user: found, provider: by } = await get("/session");
  provider.value = by ?? "";
  user.value = found;
  return found;
}

/** Sign in with a key, or with the one-time code of a link. @param {{ key: string } | { code: string }} proof */
export async function signIn(proof) {
  const answer = await post("/session", proof, { quiet: true });
  localStorage.setItem(TOKEN, answer.token);
  const before = user.value;
  user.value = answer.user;
  if (before && before.id !== answer.user.id) location.reload(); // what is shown is that of somebody else
  sessionOver.value = false;
}

export async function signOut() {
  await remove("/session").catch(() => null);
  localStorage.removeItem(TOKEN);
  user.value = null;
  location.assign("/");
}

/** Resolves when `ready` is true. @param {{ subscribe: (call: (value: any) => void) => () => void }} source @param {(value: any) => boolean} ready @param {AbortSignal} [stop] @returns {Promise<void>} */
function until(source, ready, stop) {
  return new Promise((go, fail) => {
    let done = false;
    const unsubscribe = source.subscribe((value) => {
      if (done || !ready(value)) return;
      done = true;
      queueMicrotask(() => unsubscribe());
      go();
    });
    stop?.addEventListener("abort", () => { if (!done) { done = true; unsubscribe(); fail(stop.reason); } });
  });
}

/** @param {AbortSignal} [stop] */
function signedInAgain(stop) {
  sessionOver.value = true;
  return until(sessionOver, (over) => !over, stop);
}

// A server that is away

/** @type {ReturnType<typeof setTimeout> | undefined} */
let asking;

async function lookForServer() {
  try {
    await fetch("/healthz", { cache: "no-store" });
    awaySince.value = null;
  } catch {
    asking = setTimeout(lookForServer, ASK_AGAIN_MS);
  }
}

/** @param {AbortSignal} [stop] */
function backAgain(stop) {
  if (!awaySince.value) {
    awaySince.value = new Date();
    clearTimeout(asking);
    asking = setTimeout(lookForServer, ASK_AGAIN_MS);
  }
  return until(awaySince, (since) => since === null, stop);
}

/** A part of the page; where the server is away, once it is back. @param {() => Promise<any>} load @returns {Promise<any>} */
export const reached = (load) => load().catch(() => backAgain().then(load)).catch((error) => {
  console.warn(error);
  throw new Refused(0, "", "A part of this page is not there. Load the page again.");  // the server is of another version now
});

const PAGE = 100;

/** All items of a list, page by page. @param {string} path @param {Record<string, any>} [given] @param {AbortSignal} [stop] @returns {Promise<any[]>} */
export async function everything(path, given = {}, stop) {
  const first = await get(path + query({ ...given, limit: PAGE }), { signal: stop });
  const offsets = [];
  for (let offset = PAGE; offset < first.total; offset += PAGE) offsets.push(offset);
  const rest = await Promise.all(offsets.map((offset) => get(path + query({ ...given, limit: PAGE, offset }), { signal: stop })));
  return [first, ...rest].flatMap((one) => one.items);
}
