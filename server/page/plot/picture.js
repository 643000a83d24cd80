// The picture of a live plot. The notebook's plot view draws it; here it gets a model that speaks HTTP.

import { effect, html, useEffect, useRef } from "../vendor/preact.js";
import { isAbort } from "../core/api.js";
import { isDark } from "../core/theme.js";
import view, { steady } from "../plot_view.js";
import { libraryFor } from "./library.js";

class Model {
  /** @param {import("./live.js").LivePlot} live */
  constructor(live) {
    this.live = live;
    /** @type {Record<string, any>} */
    this.values = { acts: [], height: 0, spec: null, kept: null, buffer: null, status: { title: live.name }, still: "" };
    /** @type {Map<string, Set<Function>>} */
    this.heard = new Map();
    this.library = libraryFor;
  }

  /** @param {string} name */
  get(name) {
    return this.values[name];
  }

  /** @param {string} event @param {Function} call */
  on(event, call) {
    if (!this.heard.has(event)) this.heard.set(event, new Set());
    this.heard.get(event)?.add(call);
  }

  /** @param {string} event @param {Function} call */
  off(event, call) {
    this.heard.get(event)?.delete(call);
  }

  /** @param {string} name @param {any} value */
  set(name, value) {
    this.values[name] = value;
    for (const call of this.heard.get(`change:${name}`) ?? []) call();
  }

  /** What the view says. @param {any} message */
  send(message) {
    if (message.kind === "stop") this.live.stop();
    if (message.kind !== "range") return;
    this.live.detail(message.subplots).then(
      (traces) => {
        if (!traces) return;
        for (const call of this.heard.get("msg:custom") ?? []) call({ kind: "detail", view: message.view, number: message.number, traces }, []);
      },
      (error) => { if (!isAbort(error)) this.live.closer.value = `no finer detail: ${error.message}`; },
    );
  }
}

/** @param {{ live: import("./live.js").LivePlot }} given */
export function Picture({ live }) {
  const at = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const el = /** @type {HTMLElement} */ (at.current);
    const model = new Model(live);
    model.values.height = el.clientHeight;
    const close = view.render({ model, el });
    const gd = /** @type {HTMLElement} */ (el.querySelector(".wb-figure"));
    gd.tabIndex = 0;
    gd.setAttribute("aria-description", "Plus and minus zoom, arrows move, 0 shows all.");
    gd.addEventListener("focus", () => import("./keys.js").then((keys) => keys.listen(gd, live)), { once: true });
    const sizes = new ResizeObserver(() => {
      if (el.clientHeight && el.clientHeight !== model.values.height) model.set("height", el.clientHeight);
    });
    sizes.observe(el);
    const drawing = effect(() => {
      const shown = live.shown.value;
      if (shown) model.set("spec", { ...shown, layout: steady(shown.layout, shown.keep) });
    });
    const waiting = effect(() => { model.set("status", { title: live.name, busy: live.busy.value }); });
    return () => { close(); sizes.disconnect(); drawing(); waiting(); };
  }, [live]);
  const never = Boolean(live.error.value) && !live.shown.value;  // it failed before it was ever drawn: no place is kept for a picture
  return html`<div class=${`picture ${live.error.value ? "waiting" : ""}`} style=${never ? { flex: "0 0 0px", overflow: "hidden" } : {}} aria-busy=${!live.answer.value && !live.error.value} ref=${at}></div>`;
}

/** Whether a ground is light: then the script chose it, and the ink on it is dark. @param {string} color */
function isLight(color) {
  const [red = 0, green = 0, blue = 0, opaque = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return opaque > 0.5 && red + green + blue > 384;
}

// Before paper: a picture keeps the size that it has on the screen, and is shown smaller as a whole; else it would be cut.
addEventListener("beforeprint", () => {
  for (const figure of document.querySelectorAll(".wb-figure")) {
    const layers = [...figure.querySelectorAll(".main-svg")];
    for (const svg of layers) {
      const { width, height } = svg.getBoundingClientRect();
      if (!svg.getAttribute("viewBox") && width) {
        svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
        svg.classList.add("printed");
      }
    }
    figure.classList.toggle("printed-dark", isDark.peek() && layers.length > 0 && !isLight(getComputedStyle(layers[0]).backgroundColor));
  }
});
addEventListener("afterprint", () => {
  for (const svg of document.querySelectorAll(".wb-figure .main-svg.printed")) {
    svg.removeAttribute("viewBox");
    svg.classList.remove("printed");
  }
  for (const figure of document.querySelectorAll(".printed-dark")) figure.classList.remove("printed-dark");
});
