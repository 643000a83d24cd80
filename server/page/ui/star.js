// The star of a dashboard or a plot.

import { html, useEffect } from "../vendor/preact.js";
import { isStarred, readBookmarks, star } from "../core/bookmarks.js";
import { sayError } from "./parts.js";

const LINE = "M10 2.8 12.300 7.500 17.500 8.200 13.700 11.800 14.600 17 10 14.500 5.400 17 6.300 11.800 2.500 8.200 7.700 7.500Z";

/** @param {{ kind: import("../core/bookmarks.js").Kind, id: string, name: string, slim?: boolean }} given */
export function Star({ kind, id, name, slim }) {
  useEffect(() => { readBookmarks(); }, []);
  const on = isStarred(kind, id);
  return html`<button type="button" class=${`button plain icon star ${slim ? "slim" : ""}`} aria-pressed=${on} aria-label=${`Star ${name}`} title=${on ? "Take the star away" : "Star: it stays on top of the first page"}
    onClick=${() => star(kind, id, !on).catch(sayError)}><svg viewBox="0 0 20 20" width="17" height="17" aria-hidden="true" fill=${on ? "currentColor" : "none"} stroke="currentColor" stroke-width="1.5" stroke-linejoin="round"><path d=${LINE} /></svg></button>`;
}
