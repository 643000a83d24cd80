// The gallery: ready recipes for a project or for chosen tests. One is looked at, and saved as a plot of a dashboard.

import { html, useEffect, useMemo, useState } from "../vendor/preact.js";
import { everything, get, part, post } from "../core/api.js";
import { useLoaded, useTitle } from "../core/load.js";
import { may, projects } from "../core/projects.js";
import { go, place, setQuery } from "../core/router.js";
import { many } from "../core/words.js";
import { ControlPanel } from "../controls/panel.js";
import { LivePlot, controlCount } from "../plot/live.js";
import { Picture } from "../plot/picture.js";
import { Footer, Notes, Trouble } from "../plot/tile.js";
import { Icon } from "../ui/icons.js";
import { Lines } from "../ui/sketch.js";
import { Dialog, Empty, Failed, Ghosts, say, sayError } from "../ui/parts.js";

/** @typedef {{ name: string, title: string, question: string, needs: string, ready: boolean, lacking: string }} Item */

/** The ids of the tests that the address names. @returns {string[]} */
const chosenTests = () => (place.value.query.get("tests") ?? "").split(",").filter(Boolean);

/** @param {{ project: string }} given */
export default function Gallery({ project }) {
  const tests = chosenTests();
  const picked = place.value.query.get("recipe") ?? "";
  useTitle("Gallery");
  const at = `/projects/${part(project)}/gallery`;
  const found = useLoaded((stop) => (tests.length ? post(at, { measurements: tests }, { signal: stop }) : get(at, { signal: stop })), [project, tests.join()]);
  const home = (projects.value ?? []).find((one) => one.id === project);
  const item = found.data?.find((/** @type {Item} */ one) => one.name === picked);
  return html`<div class="head"><div><nav class="crumbs" aria-label="Where this is"><a href=${`/explore?project=${part(project)}`}>Explore</a><span>/</span><span>${home?.name ?? "Project"}</span></nav>
      <h1>${item ? item.title : "Gallery"}</h1><p class="soft">${item ? item.question : "Ready recipes, each for one question."} ${tests.length ? `Made for ${many(tests.length, "chosen test")}.` : "Made for all tests of the project."}</p></div>
      ${item && html`<div class="row"><button type="button" class="button" onClick=${() => setQuery({ recipe: null })}><${Icon} name="left" /> All recipes</button></div>`}</div>
    ${found.error ? html`<${Failed} error=${found.error} again=${found.again} />` : null}
    ${!found.data && !found.error && html`<${Ghosts} rows=${4} height=${74} />`}
    ${found.data && !item && html`<${List} key=${tests.join()} items=${found.data} at=${at} tests=${tests} />`}
    ${item && html`<${Recipe} key=${`${item.name} ${tests.join()}`} project=${project} item=${item} tests=${tests} writes=${may(home, "write")} />`}`;
}

const [WIDE, HIGH, EDGE] = [290, 108, 12];

/** @param {{ items: Item[], at: string, tests: string[] }} given */
function List({ items, at, tests }) {
  const [ready, lacking] = [items.filter((one) => one.ready), items.filter((one) => !one.ready)];
  const [sketches, setSketches] = useState(/** @type {Record<string, import("../ui/sketch.js").Line[]>} */ ({}));
  useEffect(() => {
    const stop = new AbortController();
    const draw = async () => {
      for (const { name } of ready) { // One after the other: each may be a figure that nobody has drawn yet.
        if (stop.signal.aborted) return;
        // A card without its drawing still says what it is.
        const lines = await post(`${at}/${part(name)}/sketch`, tests.length ? { measurements: tests } : {}, { signal: stop.signal, quiet: true }).catch(() => undefined);
        setSketches((known) => ({ ...known, [name]: lines }));
      }
    };
    draw();
    return () => stop.abort();
  }, []);
  return html`${ready.length ? html`<ul class="cards recipes" aria-label="Recipes">${ready.map((one) => html`<li key=${one.name}><button type="button" class="box recipe" onClick=${() => setQuery({ recipe: one.name })}>
      <span class="sketch">${sketches[one.name]?.length === 0 ? html`<span class="small soft" aria-hidden="true">Open it to read what it says of these tests</span>`
        : html`<svg viewBox=${`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true"><${Lines} at=${{ x: EDGE, y: EDGE, w: WIDE - 2 * EDGE, h: HIGH - 2 * EDGE }} lines=${sketches[one.name]} /></svg>`}</span>
      <span class="words"><strong>${one.title}</strong><span class="soft">${one.question}</span></span></button></li>`)}</ul>`
    : html`<${Empty} title="No recipe fits these tests">What each needs is said below.<//>`}
    ${lacking.length > 0 && html`<details class="group"><summary><strong>${many(lacking.length, "more recipe")} for other data</strong></summary>
      <ul class="plain-list" style=${{ marginTop: "10px" }}>${lacking.map((one) => html`<li key=${one.name}><strong>${one.title}</strong> <span class="soft">${one.question} ${one.lacking}</span></li>`)}</ul></details>`}`;
}

/** A recipe with its controls, live. @param {{ project: string, item: Item, tests: string[], writes: boolean }} given */
function Recipe({ project, item, tests, writes }) {
  const at = `/projects/${part(project)}/gallery/${part(item.name)}`;
  const [saving, setSaving] = useState(false);
  const chosen = tests.length ? { measurements: tests } : {};
  const live = useMemo(() => {
    return new LivePlot({ id: `gallery-${item.name}`, name: item.title, source: {
      figure: (values, stop) => post(`${at}/figure`, { values, ...chosen }, { signal: stop }),
      detail: (asked, values, stop) => post(`${at}/figure/detail`, { ...asked, values, ...chosen }, { signal: stop }),
    } });
  }, []);
  useEffect(() => { live.start(); return () => live.close(); }, []);
  const controls = controlCount(live);
  const notes = live.notes.value;
  return html`<div class=${`single ${controls ? "" : "bare"}`}>
    ${controls > 0 && html`<aside class="box pad side" aria-label="Controls"><${ControlPanel} live=${live} prefix="gallery" /></aside>`}
    <div class="stack"><article class="box tile" aria-label=${item.title} data-state=${live.error.value ? "failed" : live.answer.value ? "drawn" : "waiting"}><${Picture} live=${live} /><${Trouble} live=${live} /><${Footer} live=${live} /></article>
      ${writes && html`<div class="row"><button type="button" class="button main" disabled=${!live.answer.value} onClick=${() => setSaving(true)}><${Icon} name="plus" /> Save as a plot</button><span class="soft small">With the values that are shown now. Then it is a plot like any other, to edit and to share.</span></div>`}
      ${notes.length > 0 && html`<section class="box pad" aria-label="Notes"><${Notes} notes=${notes} /></section>`}</div>
    ${saving && html`<${SaveDialog} project=${project} item=${item} at=${at} tests=${tests} values=${live.answer.value?.values ?? {}} close=${() => setSaving(false)} />`}</div>`;
}

/** @param {{ project: string, item: Item, at: string, tests: string[], values: Record<string, any>, close: () => void }} given */
function SaveDialog({ project, item, at, tests, values, close }) {
  const boards = useLoaded((stop) => everything(`/projects/${part(project)}/dashboards`, { order_by: "updated_at", order: "desc" }, stop), [project]);
  const wished = place.value.query.get("board") ?? "";
  const [name, setName] = useState(item.title);
  const [board, setBoard] = useState("");
  const [busy, setBusy] = useState(false);
  const there = boards.data ?? [];
  const chosen = board || (there.some((one) => one.id === wished) ? wished : there[0]?.id ?? "new");
  const save = async () => {
    setBusy(true);
    try {
      const config = await (tests.length ? post(at, { measurements: tests }) : get(at));
      for (const [key, param] of Object.entries(config.params ?? {})) if (key in values) /** @type {any} */ (param).default = values[key];
      const home = chosen === "new" ? (await post(`/projects/${part(project)}/dashboards`, { name: item.title, layout: [] })).id : chosen;
      const made = await post(`/projects/${part(project)}/dashboards/${part(home)}/plots`, { name: name.trim(), config });
      say("The plot is saved.");
      go(`/boards/${project}/${home}/plots/${made.id}`);
    } catch (error) {
      sayError(error);
      setBusy(false);
    }
  };
  return html`<${Dialog} title="Save as a plot" onClose=${close} form=${save}
    foot=${html`<button type="button" class="button" onClick=${close}>Cancel</button><button class="button main" disabled=${busy || !name.trim() || !boards.data}>Save</button>`}>
    <label class="labelled" for="plot-name">Name<input class="input" id="plot-name" autofocus maxlength="500" value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
    <label class="labelled" for="plot-board">Dashboard<select class="input" id="plot-board" onChange=${(/** @type {any} */ event) => setBoard(event.target.value)}>
      ${there.map((one) => html`<option key=${one.id} value=${one.id} selected=${one.id === chosen}>${one.name}</option>`)}<option value="new" selected=${chosen === "new"}>A new dashboard, “${item.title}”</option></select></label><//>`;
}
