// An answer that a component waits for.

import { signal, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { isAbort } from "./api.js";
import { leaving } from "./router.js";

/**
 * What `read` answers, read again when one of `on` changes. The last answer stays until the next is there.
 * @template T
 * @param {(stop: AbortSignal) => Promise<T>} read @param {any[]} on
 * @returns {{ data: T | undefined, error: any, busy: boolean, again: () => void }}
 */
export function useLoaded(read, on) {
  const [state, set] = useState(/** @type {any} */ ({ data: undefined, error: null, busy: true }));
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(on);
  const last = useRef(key);
  useEffect(() => {
    const stop = new AbortController();
    const other = last.current !== key;
    last.current = key;
    set((/** @type {any} */ now) => ({ data: other && now.error ? undefined : now.data, error: null, busy: true }));
    read(stop.signal).then(
      (data) => { if (!stop.signal.aborted) set({ data, error: null, busy: false }); },
      (error) => { if (!isAbort(error) && !stop.signal.aborted) set((/** @type {any} */ now) => ({ data: now.data, error, busy: false })); },
    );
    return () => stop.abort();
  }, [key, turn]);
  return { ...state, again: () => setTurn((now) => now + 1) };
}

/** Ask this before the page is left with what is not saved; an empty text asks nothing. @param {string} question */
export function useUnsaved(question) {
  useLayoutEffect(() => {
    leaving.ask = question ? () => confirm(question) : null;
    return () => { leaving.ask = null; };
  }, [question]);
}

/** What the title of the window says of this page. */
export const title = signal("");

/** The title of the window. @param {string} text */
export function useTitle(text) {
  useEffect(() => { title.value = text; document.title = text ? `${text} · Battery Workbench` : "Battery Workbench"; }, [text]);
}
