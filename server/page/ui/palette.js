// Search of all kinds of records, by Ctrl K from every page.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { get, isAbort, query } from "../core/api.js";
import { projects } from "../core/projects.js";
import { go } from "../core/router.js";
import { Icon } from "./icons.js";
import { useModal } from "./parts.js";

const WAIT_MS = 130;
/** The list of cells of a specification. @param {string} id @param {string | null} project */
const cellsOf = (id, project) => `/explore${query({ what: "cells", project, specification: id })}`;
/** The kinds that have a page: icon, word, address. @type {Record<string, [import("./icons.js").IconName, string, (hit: any) => string | null]>} */
const KINDS = {
  dashboard: ["grid", "dashboard", (hit) => `/boards/${hit.project_id}/${hit.id}`],
  plot: ["chart", "plot", (hit) => (hit.parent_id ? `/boards/${hit.project_id}/${hit.parent_id}/plots/${hit.id}` : null)],
  measurement: ["test", "test", (hit) => `/explore/tests/${hit.id}`],
  cell_measurement: ["test", "test", (hit) => `/explore/tests/${hit.id}`],
  instance: ["cell", "cell", (hit) => `/explore/cells/${hit.id}`],
  cell_instance: ["cell", "cell", (hit) => `/explore/cells/${hit.id}`],
  cell_specification: ["cell", "specification", (hit) => cellsOf(hit.id, hit.project_id)],
  cell_batch: ["cell", "batch", (hit) => (hit.parent_id ? cellsOf(hit.parent_id, hit.project_id) : null)],
  analysis: ["chart", "analysis", (hit) => (hit.parent_id ? `/explore/tests/${hit.parent_id}` : null)],
  project: ["grid", "project", (hit) => `/?project=${hit.id}`],
};
const PLACES = [["/", "Boards", "grid"], ["/explore", "Explore tests and cells", "search"], ["/explore?what=cells", "Cells", "cell"], ["/bring-in", "Bring in files", "file"]];

/** @param {any} hit */
function shownAs(hit) {
  const kind = KINDS[hit.entity_type] ?? KINDS[hit.entity_type.replace(/s$/, "")];
  return { icon: kind?.[0] ?? "file", word: kind?.[1] ?? hit.entity_type.replaceAll("_", " "), to: kind?.[2](hit) ?? null, name: hit.name, of: hit.parent_name };
}

/** @param {{ close: () => void }} given */
export function Palette({ close }) {
  const node = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [text, setText] = useState("");
  const [hits, setHits] = useState(/** @type {any[] | null} */ (null));
  const [at, setAt] = useState(0);
  const [problem, setProblem] = useState("");
  const asked = text.trim();
  /** The text that the hits are of: while another one is searched for, they are not what is meant. */
  const [of, setOf] = useState("");
  /** The text whose first hit is to open as soon as it is there. */
  const awaited = useRef("");
  useModal(node);
  useEffect(() => { document.getElementById(`found-${at}`)?.scrollIntoView({ block: "nearest" }); }, [at]);
  useEffect(() => {
    if (asked.length < 2) { setHits(null); setOf(asked); return undefined; }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get(`/search${query({ q: asked, limit: 40, per_type: 8, parent_names: true })}`, { signal: stop.signal }).then(
        (found) => { setHits(found.results.map(shownAs)); setOf(asked); setAt(0); setProblem(""); },
        (error) => { if (!isAbort(error)) setProblem(error.message); });
    }, WAIT_MS);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [asked]);
  useEffect(() => { if (awaited.current && awaited.current === of) { awaited.current = ""; open(links[0]); } }, [of]);
  const places = PLACES.filter(([, name]) => name.toLowerCase().includes(text.toLowerCase())).map(([to, name, icon]) => ({ to, name, icon, word: "page" }));
  const inProjects = (projects.value ?? []).filter((one) => text.length > 1 && one.name.toLowerCase().includes(text.toLowerCase()))
    .map((one) => ({ to: `/?project=${one.id}`, name: one.name, icon: "grid", word: "project", of: null }))
    .filter((one) => !(hits ?? []).some((hit) => hit.to === one.to));
  const links = [...(hits ?? []), ...inProjects, ...places].filter((one) => one.to);
  const found = [...links, ...(hits ?? []).filter((one) => !one.to)];
  /** @param {any} one */
  const open = (one) => { if (one?.to) { close(); go(one.to); } };
  /** @param {KeyboardEvent} event */
  const keys = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setAt((at + (event.key === "ArrowDown" ? 1 : links.length - 1)) % Math.max(1, links.length));
    }
    if (event.key === "Enter") { event.preventDefault(); if (of === asked) open(links[at]); else awaited.current = asked; }
  };
  return html`<dialog ref=${node} class="palette" aria-label="Search" onCancel=${close} onClick=${(/** @type {Event} */ event) => { if (event.target === node.current) close(); }}>
    <input type="text" role="combobox" aria-label="Search everything" aria-expanded="true" aria-controls="found" aria-activedescendant=${links[at] ? `found-${at}` : undefined}
      autocomplete="off" spellcheck="false" placeholder="Search cells, tests, plots, dashboards …" value=${text} onInput=${(/** @type {any} */ event) => { awaited.current = ""; setText(event.target.value); }} onKeyDown=${keys} />
    <ul id="found" role="listbox" aria-label="Found">
      ${found.map((one, n) => html`<li key=${n} id=${`found-${n}`} role="option" aria-selected=${n === at && Boolean(one.to)} aria-disabled=${!one.to} onPointerMove=${(/** @type {PointerEvent} */ event) => { if (one.to && (event.movementX || event.movementY)) setAt(n); }} onClick=${() => open(one)}>
        <${Icon} name=${one.icon} /><span class="one-line">${one.name}${one.of && html` <span class="soft">${one.of}</span>`}</span>${!one.to && html`<span class="soft small">has no page</span>`}<span class="chip">${one.word}</span></li>`)}
      ${hits !== null && !found.length && html`<li aria-disabled="true" role="option" aria-selected="false" class="soft">Nothing has “${asked.slice(0, 60)}” in its name or notes.${/\s/.test(asked) ? " The whole text is searched for: try one word of it." : ""}</li>`}
      ${hits === null && asked && !found.length && html`<li aria-disabled="true" role="option" aria-selected="false" class="soft">${asked.length < 2 ? "Type two letters or more." : "Searching …"}</li>`}
      ${problem && html`<li role="option" aria-selected="false" class="soft">${problem}</li>`}
    </ul></dialog>`;
}
