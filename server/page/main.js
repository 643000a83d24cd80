// The page begins here: who is signed in, which page the address names.

import { html, render, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { reached, sessionOver, signIn, user, whoIsThere } from "./core/api.js";
import { title } from "./core/load.js";
import { listen, place } from "./core/router.js";
import { followTheme } from "./core/theme.js";
import { focusPart, keepFocus } from "./ui/keep_focus.js";
import { Ghosts, Toasts, sayError } from "./ui/parts.js";
import { Shell } from "./ui/shell.js";
import { LinkGuard } from "./ui/link_guard.js";
import { Later, styled } from "./ui/later.js";

/** Each page is loaded when it is first opened. @type {Record<string, () => Promise<any>>} */
const PAGES = {
  home: () => import("./pages/home.js"),
  board: () => import("./pages/board.js"),
  plot: () => import("./pages/plot.js"),
  edit: () => import("./pages/edit.js"),
  explore: () => import("./pages/explore.js"),
  test: () => import("./pages/test.js"),
  cell: () => import("./pages/cell.js"),
  gallery: () => import("./pages/gallery.js"),
  bringIn: () => import("./pages/bring_in.js"),
  admin: () => import("./pages/admin.js"),
  shared: () => import("./pages/shared.js"),
  absent: () => import("./pages/absent.js"),
};

const signing = () => import("./pages/sign_in.js");

/** Pages that open without `style/work.css`. */
const PLAIN = new Set(["home", "board", "shared", "absent"]);
/** A page with the style of tables, of the editor and of administration, if it needs that. @param {string} name @returns {Promise<any>} */
function loaded(name) {
  return PLAIN.has(name) ? PAGES[name]() : styled(PAGES[name]);
}

/** The page of an address, and the ids in it. @param {string[]} parts @returns {[string, Record<string, string>]} */
function pageOf(parts) {
  const [first, a, b, c, d, e] = parts;
  if (!first || (first === "boards" && !b)) return ["home", {}];
  if (first === "boards" && parts.length === 3) return b === "new" ? ["absent", {}] : ["board", { project: a, board: b }];
  if (first === "boards" && c === "new-plot" && parts.length === 4) return ["edit", { project: a, board: b }];
  if (first === "boards" && c === "plots" && parts.length === 5) return ["plot", { project: a, board: b, plot: d }];
  if (first === "boards" && c === "plots" && e === "edit") return ["edit", { project: a, board: b, plot: d }];
  if (first === "explore" && !b) return ["explore", {}];
  if (first === "explore" && a === "tests") return ["test", { id: b }];
  if (first === "explore" && a === "cells") return ["cell", { id: b }];
  if (first === "explore" && a === "gallery" && b) return ["gallery", { project: b }];
  if (first === "bring-in") return ["bringIn", {}];
  if (first === "admin") return ["admin", {}];
  return ["absent", {}];
}

/** Whether an address is that of a link. @param {string[]} parts */
const isLink = ([first, token]) => (first === "s" || first === "embed") && Boolean(token);

/** What a link shows to people without a key. @param {{ token: string, framed: boolean }} given */
function Outside({ token, framed }) {
  const [View, show] = useState(/** @type {any} */ (null));
  useEffect(() => { PAGES.shared().then((module) => show(() => module.default), sayError); }, []);
  return View ? html`<${View} token=${token} framed=${framed} />` : null;
}

function Page() {
  const { parts } = place.value;
  const [name, ids] = pageOf(parts);
  const [shown, show] = useState(/** @type {any} */ (null));
  useEffect(() => {
    let here = true;
    reached(() => loaded(name)).then((module) => { if (here) show({ name, View: module.default }); }, sayError);
    return () => { here = false; };
  }, [name]);
  if (shown?.name !== name) return html`<${Ghosts} rows=${4} height=${90} />`;
  return html`<${shown.View} key=${Object.values(ids).join("/")} ...${ids} />`;
}

/** After the first page, each opens as a browser opens one: keys begin at its content, and a screen reader says its title. */
function Arrival() {
  const { path } = place.value;
  const first = useRef(path);
  if (first.current !== path) first.current = "";
  useLayoutEffect(() => { if (!first.current) focusPart(document.getElementById("content")); }, [path]);
  return html`<div class="unseen" role="status">${first.current ? "" : title}</div>`;
}

function App() {
  const { parts } = place.value;
  if (isLink(parts)) return html`<${Outside} token=${parts[1]} framed=${parts[0] === "embed"} /><${Toasts} /><${LinkGuard} />`;
  if (user.value === undefined) return null;
  if (user.value === null && pageOf(parts)[0] === "absent") return html`<main class="page" id="content"><${Page} /></main>`;
  if (user.value === null) return html`<${Later} load=${signing} of="SignIn" /><${Toasts} />`;
  return html`<${Shell}><${Page} /><//><${Arrival} /><${Toasts} /><${LinkGuard} />${sessionOver.value && html`<${Later} load=${signing} of="SessionDialog" />`}`;
}

async function begin() {
  followTheme();
  listen();
  keepFocus();
  const { parts } = place.peek();
  const link = isLink(parts);
  // The page and what draws its figures come while the server says who is there.
  loaded(link ? "shared" : pageOf(parts)[0]).catch(() => null);
  if (link) return;
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    history.replaceState(null, "", location.pathname + location.search);
    await signIn({ code }).catch(sayError);
  }
  if (!user.value) await whoIsThere();
}

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("page")));
begin().catch((error) => { user.value = null; sayError(error); });
