// plotly.js: the small file for most figures, the full one for the rest. A file draws a trace type that it does not know as
// `scatter` without a word, so the types are compared first. WebGL needs a policy that this page does not have.

import { count } from "../core/words.js";

const FILES = {
  small: new URL("../vendor/plotly-cartesian.js", import.meta.url).href,
  full: new URL("../plotly.js", import.meta.url).href,
};
const SMALL = new Set([
  "bar", "box", "contour", "heatmap", "histogram", "histogram2d", "histogram2dcontour", "image", "pie", "scatter", "scatterternary", "violin",
]);
const WITHOUT_WEBGL = new Map([["scattergl", "scatter"], ["heatmapgl", "heatmap"], ["scatterpolargl", "scatterpolar"]]);
const NEVER = new Set(["splom", "parcoords"]);
/** A legend of more traces cannot be read, and plotly.js is at work on it for half a minute. */
const MOST_LISTED = 300;

/** @type {Map<keyof typeof FILES, Promise<any>>} */
const loaded = new Map();

/** @param {{ type?: string }} trace */
const typeOf = (trace) => trace.type ?? "scatter";

/** The figure as it can be drawn here, and what was changed, in sentences. @param {any} figure @returns {{ figure: any, notes: string[] }} */
export function drawable(figure) {
  const notes = new Set();
  const data = figure.data.map((/** @type {any} */ trace) => {
    const type = typeOf(trace);
    if (NEVER.has(type)) {
      notes.add(`A trace of type ${type} needs WebGL, which this page does not allow. It is drawn in a notebook.`);
      return { type: "scatter", name: trace.name, visible: false }; // plotly.js would say that the browser has no WebGL
    }
    const other = WITHOUT_WEBGL.get(type);
    if (!other) return trace;
    notes.add(`Drawn as ${other}: ${type} needs WebGL, which this page does not allow.`);
    return { ...trace, type: other };
  });
  let layout = figure.layout;
  if (data.length && figure.data.every((/** @type {any} */ trace) => NEVER.has(typeOf(trace)))) layout = instead([...notes].join("<br>"));
  const listed = data.filter((/** @type {any} */ trace) => trace.visible !== false && trace.showlegend !== false).length;
  if (listed > MOST_LISTED && layout.showlegend !== false) {
    notes.add(`The legend is left out: it would have ${count(listed)} names. Point at a trace to read its name.`);
    layout = { ...layout, showlegend: false };
  }
  return { figure: notes.size ? { ...figure, data, layout } : figure, notes: [...notes] };
}

/** A picture of nothing but a text. @param {string} text */
const instead = (text) => ({
  xaxis: { visible: false }, yaxis: { visible: false }, showlegend: false,
  annotations: [{ text, showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0.5, font: { size: 14 } }],
});

/** plotly.js for a figure. @param {any} figure @returns {Promise<any>} */
export function libraryFor(figure) {
  const small = figure.data.every((/** @type {any} */ trace) => SMALL.has(typeOf(trace)));
  const templates = Object.keys(figure.layout).every((key) => !/^(scene|geo|map|polar|smith)/.test(key));
  return load(small && templates && !loaded.has("full") ? "small" : "full");
}

/** @param {keyof typeof FILES} name */
function load(name) {
  if (!loaded.has(name)) {
    loaded.set(name, new Promise((go, fail) => {
      const script = document.createElement("script");
      script.src = FILES[name];
      script.onload = () => go(/** @type {any} */ (globalThis).Plotly);
      script.onerror = () => { loaded.delete(name); fail(new Error("plotly.js could not be loaded. Load the page again.")); };
      document.head.append(script);
    }));
  }
  return /** @type {Promise<any>} */ (loaded.get(name));
}

/** Begin to load the small file, before a figure is there. */
export const warmUp = () => { load("small").catch(() => null); };
