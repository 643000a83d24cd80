// Signing in with a key, at the beginning and when a session ended.

import { html, useState } from "../vendor/preact.js";
import { provider, query, signIn, signOut, user } from "../core/api.js";
import { useTitle } from "../core/load.js";
import { Icon } from "../ui/icons.js";
import { Dialog } from "../ui/parts.js";

const ICON = new URL("../icon.svg", import.meta.url).href;

/** Go to the identity provider, and come back to this place signed in. */
function signInByProvider() {
  location.assign(`/session/provider${query({ next: location.pathname + location.search })}`);
}

/** @param {{ again?: boolean }} given */
function KeyForm({ again }) {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  /** @param {Event} event */
  const submitted = async (event) => {
    event.preventDefault();
    if (!key.trim()) return setWrong("Paste your key first.");
    setBusy(true);
    try {
      await signIn({ key: key.trim() });
    } catch (error) {
      setWrong(/** @type {any} */ (error).message);
      setBusy(false);
    }
  };
  return html`<form class="stack" onSubmit=${submitted}>
    <label class="labelled" for="key">Your key
      <input class="input" id="key" type="password" name="key" autocomplete="current-password" spellcheck="false" placeholder="wb_…" autofocus
        aria-invalid=${Boolean(wrong)} aria-describedby=${wrong ? "key-wrong" : undefined} value=${key} onInput=${(/** @type {any} */ event) => { setKey(event.target.value); setWrong(""); }} /></label>
    ${wrong && html`<div class="note wrong" role="alert" id="key-wrong"><${Icon} name="warn" /><div>${wrong}</div></div>`}
    <button class="button main" disabled=${busy}>${busy ? "Signing in …" : "Sign in"}</button>
    ${provider.value && html`<button type="button" class="button" onClick=${signInByProvider}>Sign in with ${provider.value}</button>`}
    ${!again && html`<p class="soft small">Whoever runs this server gives keys: <code>workbench keys create --user you@lab.org</code>. The key stays out of links, logs and the browser's storage.</p>`}
  </form>`;
}

export function SignIn() {
  useTitle("Sign in");
  return html`<main class="gate"><div class="box"><div class="brand"><img src=${ICON} alt="" />Battery Workbench</div>
    <div class="stack"><div><h1>Sign in</h1><p class="soft">To your team's dashboards, cells and tests.</p></div><${KeyForm} />${provider.value && html`<${SignOutOfProvider} />`}</div></div></main>`;
}

/** Leaves the provider too, on a computer that others use. */
const SignOutOfProvider = () => html`<button type="button" class="button plain" onClick=${() => location.assign("/session/provider/sign-out")}>Sign out of ${provider.value} too</button>`;

export const SessionDialog = () => html`<${Dialog} title="Your session is over">
  <p>Sign in again, ${user.value?.name || user.value?.email}, and go on where you were. Nothing that you typed is lost.</p><${KeyForm} again />
  <button type="button" class="button plain" onClick=${signOut}>Leave instead</button><//>`;
