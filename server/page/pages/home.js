// Home: the dashboards of all projects that one may see.

import { html, useEffect, useState } from "../vendor/preact.js";
import { get, part, post, query } from "../core/api.js";
import { useLoaded, useTitle } from "../core/load.js";
import { may, mayHere, projects, readProjects } from "../core/projects.js";
import { go, place, setQuery } from "../core/router.js";
import { bookmarks, readBookmarks } from "../core/bookmarks.js";
import { BoardCard } from "../ui/board_card.js";
import { Icon } from "../ui/icons.js";
import { Dialog, Empty, Failed, Ghost, sayError } from "../ui/parts.js";

const MOST_OPENED = 8;

/** What the user has starred or opened last: one line of links. @param {{ word: string, items: import("../core/bookmarks.js").Bookmark[] }} given */
const Marked = ({ word, items }) => (items.length ? html`<section class="group marked" aria-label=${word}><h2>${word}</h2>
  <ul class="row">${items.map((one) => html`<li key=${`${one.kind} ${one.id}`}><a class="button slim" href=${`/boards/${one.project_id}/${one.kind === "plot" ? `${one.dashboard_id}/plots/` : ""}${one.id}`}>
    <${Icon} name=${one.kind === "plot" ? "chart" : "grid"} size=${15} /><span class="one-line">${one.name}</span></a></li>`)}</ul></section>` : null);

/** @param {{ project: any, boards: any[], total: number }} given */
function ProjectGroup({ project, boards, total }) {
  const [making, setMaking] = useState(false);
  const writes = may(project, "write");
  return html`<section class="group" aria-label=${project.name}>
    <div class="spread"><div class="row"><h2 class="break">${project.name}</h2><span class="count">${total}</span>
      ${project.description && html`<span class="soft break">${project.description}</span>`}</div>
      <a class="button plain slim" href=${`/explore${query({ project: project.id })}`}>Cells and tests</a></div>
    ${writes && !boards.length && html`<p class="soft" style=${{ margin: "0 0 12px" }}>No dashboards yet. Make one here, or let the gallery answer a question about your tests: choose them under <a href=${`/explore${query({ project: project.id })}`}>Cells and tests</a>.</p>`}
    ${boards.length || writes ? html`<div class="cards">
      ${boards.map((one) => html`<${BoardCard} key=${one.id} board=${one} />`)}
      ${writes && html`<button type="button" class="box card new button" onClick=${() => setMaking(true)}><span class="row"><${Icon} name="plus" /> New dashboard</span></button>`}
    </div>` : html`<p class="soft">No dashboards yet.</p>`}
    ${total > boards.length && html`<p class="soft small">${boards.length} of ${total} dashboards are shown. <a href=${`/?project=${project.id}`}>Show all</a></p>`}
    ${making && html`<${NewBoard} project=${project} close=${() => setMaking(false)} />`}
  </section>`;
}

/** @param {{ project: any, close: () => void }} given */
function NewBoard({ project, close }) {
  const [name, setName] = useState("");
  const [about, setAbout] = useState("");
  const make = () => post(`/projects/${part(project.id)}/dashboards`, { name: name.trim(), ...(about.trim() ? { description: about.trim() } : {}), layout: [] })
    .then((board) => go(`/boards/${project.id}/${board.id}`), sayError);
  return html`<${Dialog} title=${`New dashboard in ${project.name}`} onClose=${close} form=${make}
    foot=${html`<button type="button" class="button" onClick=${close}>Cancel</button><button class="button main" disabled=${!name.trim()}>Make it</button>`}>
    <label class="labelled" for="board-name">Name<input class="input" id="board-name" autofocus maxlength="200" value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
    <label class="labelled" for="board-about">What it answers <span class="soft small">One sentence for your team; may be left out.</span>
      <textarea class="input" id="board-about" rows="2" value=${about} onInput=${(/** @type {any} */ event) => setAbout(event.target.value)}></textarea></label><//>`;
}

function NewProject() {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const make = () => post("/projects", { name: name.trim() }).then(() => readProjects(true)).then(() => { setOpen(false); setName(""); }, sayError);
  return html`<button type="button" class="button" onClick=${() => setOpen(true)}><${Icon} name="plus" /> New project</button>
    ${open && html`<${Dialog} title="New project" onClose=${() => setOpen(false)} form=${make}
      foot=${html`<button type="button" class="button" onClick=${() => setOpen(false)}>Cancel</button><button class="button main" disabled=${!name.trim()}>Make it</button>`}>
      <label class="labelled" for="project-name">Name<input class="input" id="project-name" autofocus value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label><//>`}`;
}

export default function Home() {
  useTitle("Boards");
  const chosen = place.value.query.get("project") ?? "";
  const found = useLoaded(async (stop) => {
    const all = await readProjects();
    const wanted = chosen ? all.filter((one) => one.id === chosen) : all.slice(0, 40);
    const pages = await Promise.all(wanted.map((one) =>
      get(`/projects/${part(one.id)}/dashboards${query({ limit: chosen ? 100 : 24, order_by: "updated_at", order: "desc" })}`, { signal: stop })));
    return wanted.map((project, n) => ({ project, boards: pages[n].items, total: pages[n].total }));
  }, [chosen, projects.value?.length]);
  useEffect(() => { readBookmarks(); }, []);
  const all = projects.value ?? [];
  const marks = chosen ? [] : bookmarks.value ?? [];
  const starred = marks.filter((one) => one.starred_at);
  return html`
    <div class="head"><div><h1>Boards</h1><p class="soft">The dashboards of your team. Every plot is live.</p></div>
      <div class="row">
        ${all.length > 1 && html`<label class="row small" for="project"><span class="soft">Project</span>
          <select class="input" id="project" style=${{ width: "auto", maxWidth: "260px" }} onChange=${(/** @type {any} */ event) => setQuery({ project: event.target.value || null })}>
            ${chosen && !all.some((one) => one.id === chosen) && html`<option value=${chosen} selected hidden>not here</option>`}<option value="" selected=${!chosen}>All</option>${all.map((one) => html`<option key=${one.id} value=${one.id} selected=${one.id === chosen}>${one.name}</option>`)}</select></label>`}
        ${mayHere("write") && html`<${NewProject} />`}</div></div>
    <${Marked} word="Starred" items=${starred} />
    <${Marked} word="Opened last" items=${marks.filter((one) => one.opened_at && !one.starred_at).slice(0, MOST_OPENED)} />
    ${found.error ? html`<${Failed} error=${found.error} again=${found.again} />` : null}
    ${!found.data && !found.error && html`<div class="cards" aria-busy="true">${[0, 1, 2].map((n) => html`<${Ghost} key=${n} height=${228} />`)}</div>`}
    ${found.data?.map((one) => html`<${ProjectGroup} key=${one.project.id} ...${one} />`)}
    ${found.data && !found.data.length && html`<${Empty} icon="grid" title=${chosen ? "This project is not here" : "No project yet"}>
      ${chosen ? "It does not exist, or your key has no role in it." : "Your key has no role in any project. Ask an administrator for one."}<//>`}`;
}
