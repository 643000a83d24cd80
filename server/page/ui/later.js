// A part of a page whose module is loaded when it is first shown: a dashboard opens without it.

import { html, signal, useEffect, useState } from "../vendor/preact.js";
import { reached } from "../core/api.js";
import { Ghosts, sayError } from "./parts.js";

/** A dialog that a menu asked for: it lies over the page after the menu has closed. `load` and `of` are those of `Later`. */
export const wanted = signal(/** @type {{ load: () => Promise<any>, of: string, [more: string]: any } | null} */ (null));

/** @type {Promise<unknown> | undefined} */
let style;

/** A module with the style of what a dashboard opens without: tables, the editor, the search. @param {() => Promise<any>} load @returns {Promise<any>} */
export async function styled(load) {
  style ??= new Promise((go, fail) => {
    const failed = () => { style = undefined; fail(new Error("work.css")); };
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("../style/work.css", import.meta.url).href, onload: go, onerror: failed });
    document.head.append(link);
  });
  const [module] = await Promise.all([load(), style]);
  return module;
}

/** What is exported as `of` by the module that `load` imports; what else is given goes to it. @param {{ load: () => Promise<any>, of: string, rows?: number, [more: string]: any }} given */
export function Later({ load, of, rows = 0, ...given }) {
  const [View, show] = useState(/** @type {any} */ (null));
  useEffect(() => {
    let here = true;
    reached(load).then((module) => { if (here) show(() => module[of]); }, sayError);
    return () => { here = false; };
  }, []);
  if (View) return html`<${View} ...${given} />`;
  return rows ? html`<${Ghosts} rows=${rows} height=${34} />` : null;
}
