// The frame of every page: where one can go, search, theme, who is signed in.

import { html, useEffect, useState } from "../vendor/preact.js";
import { awaySince, signOut, user } from "../core/api.js";
import { may, mayHere, projects, readProjects } from "../core/projects.js";
import { place } from "../core/router.js";
import { isDark, turnTheme } from "../core/theme.js";
import { clock, initials } from "../core/words.js";
import { Icon } from "./icons.js";
import { Popover } from "./parts.js";
import { Later, styled, wanted } from "./later.js";

const ICON = new URL("../icon.svg", import.meta.url).href;

/** @param {{ children: any }} given */
export function Shell({ children }) {
  const [finding, setFinding] = useState(false);
  useEffect(() => { readProjects().catch(() => null); }, []);
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const keys = (event) => {
      const typing = event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable], .editor");
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); setFinding(true); }
      else if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); setFinding(true); }
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  const writes = (projects.value ?? []).some((one) => may(one, "write"));
  const insecure = !isSecureContext;
  const dark = isDark.value;
  return html`
    <a class="skip" href="#content" onClick=${(/** @type {Event} */ event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>Skip to the content</a>
    <header class="top">
      <a class="brand" href="/" aria-label="Battery Workbench, home"><img src=${ICON} alt="" /><span>Workbench</span></a>
      <nav class="menu-bar" aria-label="Main">
        <${Go} to="/" also="/boards">Boards<//><${Go} to="/explore">Explore<//>
        ${writes && html`<${Go} wide to="/bring-in">Bring in<//>`}
        ${mayHere("manage") && html`<${Go} wide to="/admin">Admin<//>`}
      </nav>
      <button type="button" class="find" onClick=${() => setFinding(true)} aria-label="Search … Ctrl K" aria-keyshortcuts="Control+K"><${Icon} name="search" size=${16} /><span>Search …</span><kbd>Ctrl K</kbd></button>
      <button type="button" class="button plain icon theme" onClick=${turnTheme} aria-label="Light or dark" title="Light or dark"><${Icon} name=${dark ? "sun" : "moon"} /></button>
      <${Popover} buttonClass="round" title=${`${initials(user.value?.name || user.value?.email || "?")}, ${user.value?.name || user.value?.email || "you"}`} label=${initials(user.value?.name || user.value?.email || "?")}>
        <div class="caption break"><strong>${user.value?.name}</strong><br />${user.value?.email}<br />${user.value?.authorized_organization?.name}, ${user.value?.organization_role?.name}</div><hr />
        ${writes && html`<a class="narrow-only" href="/bring-in"><${Icon} name="plus" /> Bring in files</a>`}
        ${mayHere("manage") && html`<a class="narrow-only" href="/admin"><${Icon} name="people" /> Admin</a>`}
        <button type="button" onClick=${turnTheme}><${Icon} name=${dark ? "sun" : "moon"} /> ${dark ? "Light" : "Dark"}</button>
        <button type="button" onClick=${signOut}><${Icon} name="out" /> Sign out</button>
      <//>
    </header>
    ${awaySince.value && html`<div class="banner" role="status">The server has not been reachable since ${clock(awaySince.value)}. Trying again; what is shown stays.</div>`}
    ${insecure && html`<div class="banner" role="status">This connection is not private: others on the network can read it. Ask for an address that begins with https.</div>`}
    <main class="page" id="content" tabindex="-1">${children}</main>
    ${wanted.value && html`<${Later} key=${wanted.value.at} ...${wanted.value} close=${() => { wanted.value = null; }} />`}
    ${finding && html`<${Later} load=${() => styled(() => import("./palette.js"))} of="Palette" close=${() => setFinding(false)} />`}`;
}

/** A place to go; with `wide` only where there is room, else it is in the menu of the person. @param {{ to: string, also?: string, wide?: boolean, children: any }} given */
function Go({ to, also, wide, children }) {
  const { path } = place.value;
  const here = path === to || (to !== "/" && path.startsWith(`${to}/`)) || (also && path.startsWith(also));
  return html`<a href=${to} class=${wide ? "wide-only" : ""} aria-current=${here ? "page" : undefined}>${children}</a>`;
}
