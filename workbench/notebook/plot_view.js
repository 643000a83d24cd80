// Draws figures of the kernel with plotly.js. The first view of a page asks for plotly.js, and all views share it.

const SHARED = (globalThis.__workbench ??= { sources: new Map(), library: null, turn: Promise.resolve(), drawing: 0 });
const CONFIG = { showSendToCloud: false, plotlyServerURL: "", displaylogo: false, responsive: false };
const ASK_AGAIN_MS = 8000;
const RANGE_QUIET_MS = 180;
const LONGEST_TURN_MS = 1500;
const CHECK_MS = 30000;
const STILL_AFTER_MS = 4000;
const STILL_WIDTH = 1000;
const TYPES = {
  f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array,
  i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array,
};
const ICONS = {
  controls: "M3 5h7v2H3zM14 5h3v2h-3zM11 3h2v6h-2zM3 13h3v2H3zM10 13h7v2h-7zM7 11h2v6H7z",
  undo: "M8 5V1L2 7l6 6V9c4 0 7 1.2 9 4-1-5-4-8-9-8z",
  redo: "M12 5V1l6 6-6 6V9c-4 0-7 1.2-9 4 1-5 4-8 9-8z",
  refresh: "M16 4v4.5h-4.5l1.8-1.8A5 5 0 1 0 15 10h2a7 7 0 1 1-2.2-5.2L16 4z",
  copy: "M7 2h9v11h-3v4H4V6h3V2zm2 4h4v5h1V4H9v2zM6 8v7h5V8H6z",
  recipe: "M4 3h12v2H4V3zm0 4h8v2H4V7zm0 4h12v2H4v-2zm0 4h8v2H4v-2z",
};
const BUTTONS = [
  ["controls", "Show or hide the controls"],
  ["undo", "Undo the last change"],
  ["redo", "Redo the last change that was undone"],
  ["refresh", "Read the data again, with new records"],
  ["copy", "Copy the recipe with the present values"],
  ["recipe", "Show and change the recipe"],
];

// plotly.js, once on each page

function library(model) {
  SHARED.library ??= new Promise((resolve) => { SHARED.arrived = resolve; ask(); });
  return SHARED.library;
}

function ask() {
  // The widget may be closed before it answers. After a while, the next widget is asked.
  const waiting = [...SHARED.sources.values()].sort((a, b) => a.asked - b.asked);
  if (waiting.length) {
    waiting[0].asked = performance.now();
    waiting[0].model.send({ kind: "plotly" });
  }
  SHARED.timer = setTimeout(ask, ASK_AGAIN_MS);
}

async function unpack(packed) {
  clearTimeout(SHARED.timer);
  if (SHARED.unpacking) return;
  SHARED.unpacking = true;
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const source = await new Response(stream).text();
  const page = globalThis.Plotly;
  const parts = ["const module = { exports: {} };\n", source, "\nexport default module.exports;"];
  const address = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
  try {
    SHARED.arrived((await import(address)).default);
  } finally {
    URL.revokeObjectURL(address);
    if (page) globalThis.Plotly = page; // whoever else brought one keeps it
  }
}

// Decoding of figures

function revived(value, read) {
  if (Array.isArray(value)) {
    return value.some((item) => item !== null && typeof item === "object") ? value.map((v) => revived(v, read)) : value;
  }
  if (value === null || typeof value !== "object") return value;
  if (value.$at || value.$kept) return read(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revived(item, read)]));
}

function array([offset, bytes, type], shape, view) {
  const Type = TYPES[type];
  const start = view.byteOffset + offset;
  const length = bytes / Type.BYTES_PER_ELEMENT;
  const aligned = start % Type.BYTES_PER_ELEMENT === 0;
  const flat = aligned
    ? new Type(view.buffer, start, length)
    : new Type(view.buffer.slice(start, start + bytes));
  return shape ? nested(flat, shape.split(",").map(Number)) : flat;
}

// The arrays of a message; each place is decoded once.
function reader(view) {
  const read = new Map();
  return ([offset, bytes, type], shape) => {
    const key = `${offset} ${type} ${shape}`;
    if (!read.has(key)) read.set(key, array([offset, bytes, type], shape, view));
    return read.get(key);
  };
}

const viewed = (buffer) => (buffer instanceof DataView ? buffer : new DataView(buffer.buffer ?? buffer));

function nested(flat, [rows, ...rest]) {
  if (!rest.length) return flat;
  const size = flat.length / rows;
  return Array.from({ length: rows }, (_, row) => nested(flat.subarray(row * size, (row + 1) * size), rest));
}

function placed(trace, path, values) {
  const [key, ...rest] = path;
  return { ...trace, [key]: rest.length ? placed(trace[key] ?? {}, rest, values) : values };
}

// Light and dark

function isDark() {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight !== undefined) return jpThemeLight === "false";
  if (vscodeThemeKind !== undefined) return ["vscode-dark", "vscode-high-contrast"].includes(vscodeThemeKind);
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function onTheme(call) {
  const observer = new MutationObserver(call);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", call);
  return () => { observer.disconnect(); media.removeEventListener("change", call); };
}

// Without a title, plotly leaves 100 pixels free above the plot.
function snug(layout) {
  const base = layout.template?.layout ?? {};
  if (layout.title?.text || layout.margin || base.margin) return layout;
  return { ...layout, margin: { t: 34, b: 56, l: 64, r: 24 } };
}

function themed(layout, ground) {
  if (!isDark()) return layout;
  const template = layout.template ?? {};
  const base = template.layout ?? {};
  const axis = {
    gridcolor: "rgba(255,255,255,0.13)", linecolor: "rgba(255,255,255,0.5)",
    zerolinecolor: "rgba(255,255,255,0.28)", tickcolor: "rgba(255,255,255,0.5)",
  };
  const dark = {
    ...base,
    paper_bgcolor: ground, plot_bgcolor: ground,
    font: { ...base.font, color: "#d8dbe0" },
    xaxis: { ...base.xaxis, ...axis }, yaxis: { ...base.yaxis, ...axis },
    legend: { ...base.legend, bgcolor: "rgba(0,0,0,0)" },
    modebar: { ...base.modebar, bgcolor: "rgba(0,0,0,0)", color: "rgba(255,255,255,0.45)", activecolor: "rgba(255,255,255,0.9)" },
  };
  return { ...layout, template: { ...template, layout: dark } };
}

// Annotations and axis titles for which the script chose a colour.
function written(layout) {
  const read = (text) => (text?.font?.color ? { ...text, font: { ...text.font, color: inked(text.font.color) } } : text);
  const made = { ...layout };
  if (Array.isArray(layout.annotations)) made.annotations = layout.annotations.map(read);
  for (const key of Object.keys(layout)) {
    if (/^[xy]axis\d*$/.test(key) && layout[key]?.title?.font) made[key] = { ...layout[key], title: read(layout[key].title) };
  }
  return made;
}

// Dark colours of a script would not be visible on a dark background. Black and dark greys become as light as they
// were dark. Other dark colours become just light enough to be seen; the darker of two colours stays the darker one.
const INKED = ["color", "outliercolor"];
const SEEN = 0.2; // luminance from which a colour stays as it is
const DARKEST = 0.13;

const linear = (part) => (part <= 10 ? part / 3295 : ((part / 255 + 0.055) / 1.055) ** 2.4);
const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);

function lifted(rgb) {
  const aim = DARKEST + (1 - DARKEST / SEEN) * luminance(rgb);
  const mixed = (share) => rgb.map((part) => Math.round(part + share * (255 - part)));
  let share = 0;
  while (luminance(mixed(share)) < aim) share += 0.02;
  return mixed(share);
}

function inked(color) {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(color)?.[1];
  const given = /^rgba?\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*(?:,\s*([\d.]+)\s*)?\)$/.exec(color);
  let rgb = null;
  if (color === "black") rgb = [0, 0, 0];
  else if (hex) rgb = hex.match(hex.length === 3 ? /./g : /../g).map((part) => parseInt(hex.length === 3 ? part + part : part, 16));
  else if (given) rgb = given.slice(1, 4).map(Number);
  if (!rgb) return color;
  const grey = Math.max(...rgb) - Math.min(...rgb) <= 30;
  if (grey ? Math.max(...rgb) > 110 : luminance(rgb) >= SEEN) return color;
  const light = grey ? rgb.map((part) => 235 - part) : lifted(rgb);
  return given?.[4] ? `rgba(${light}, ${given[4]})` : `rgb(${light})`;
}

function brightened(trace) {
  const made = { ...trace };
  for (const part of ["line", "marker", "error_x", "error_y", "textfont"]) {
    if (trace[part] === null || typeof trace[part] !== "object") continue;
    made[part] = { ...trace[part] };
    if (trace[part].line) made[part].line = brightened({ line: trace[part].line }).line;
    for (const key of INKED) if (typeof trace[part][key] === "string") made[part][key] = inked(trace[part][key]);
    const scale = trace[part].colorscale;
    if (Array.isArray(scale)) made[part].colorscale = scale.map(([stop, color]) => [stop, inked(color)]);
  }
  return made;
}

// The zoomed part of the figure

const AXIS = /^([xy])axis(\d*)\.(range|autorange)/;

function sameRange(a, b) {
  const numbers = [...a, ...b].map((v) => (typeof v === "number" ? v : Date.parse(v)));
  const close = Math.abs(numbers[1] - numbers[0]) * 1e-6;
  return Math.abs(numbers[0] - numbers[2]) <= close && Math.abs(numbers[1] - numbers[3]) <= close;
}

function isZoomed(axis, given) {
  if (axis.autorange) return false;
  return !(Array.isArray(given?.range) && sameRange(axis.range, given.range));
}

const real = (axis) => axis.range.map((v) => (axis.type === "log" ? 10 ** v : v));

function lookedAt(gd, layout) {
  const subplots = new Map();
  for (const trace of gd._fullData) {
    if (trace.visible !== true || !trace.xaxis || !trace.yaxis) continue;
    const key = `${trace.xaxis} ${trace.yaxis}`;
    const names = [trace.xaxis, trace.yaxis].map((id) => `${id[0]}axis${id.slice(1)}`);
    const [x, y] = names.map((name) => gd._fullLayout[name]);
    if (!x || !y || [x, y].some((axis) => !["linear", "log", "date"].includes(axis.type))) continue;
    if (!isZoomed(x, layout[names[0]]) && !isZoomed(y, layout[names[1]])) continue;
    if (!subplots.has(key)) subplots.set(key, { traces: [], x: real(x), y: real(y), width: Math.round(x._length) });
    subplots.get(key).traces.push(trace.index);
  }
  return [...subplots.values()];
}

// The elements of the view

function made(tag, name, parent, text) {
  const node = document.createElement(tag);
  node.className = name;
  if (text !== undefined) node.textContent = text;
  parent?.append(node);
  return node;
}

function button(name, title, parent, act) {
  const node = made("button", `wb-button wb-act-${name}`, parent);
  node.type = "button";
  node.title = title;
  node.setAttribute("aria-label", title);
  node.innerHTML = `<svg viewBox="0 0 20 20" width="15" height="15" aria-hidden="true"><path fill="currentColor" d="${ICONS[name]}"/></svg>`;
  node.addEventListener("click", act);
  return node;
}

function parts(el) {
  const root = made("div", "wb-plot", el);
  const bar = made("div", "wb-bar", root);
  const buttons = made("div", "wb-buttons", bar);
  const title = made("div", "wb-title", bar);
  const told = made("div", "wb-told", bar);
  told.setAttribute("role", "status");
  const stage = made("div", "wb-stage", root);
  const figure = made("div", "wb-figure", stage);
  const wait = made("div", "wb-wait", stage, "Waiting for the first figure …");
  const busy = made("div", "wb-busy", stage);
  const problem = made("div", "wb-problem", root);
  problem.setAttribute("role", "alert");
  const notes = made("ul", "wb-notes", root);
  const log = made("pre", "wb-log", root);
  return { root, bar, buttons, title, told, stage, figure, wait, busy, problem, notes, log };
}

function showBusy(at, busy) {
  at.stage.classList.toggle("wb-dim", Boolean(busy));
  at.busy.replaceChildren();
  if (!busy) return;
  const bar = made("div", "wb-progress", at.busy);
  const done = made("div", busy.share === null ? "wb-done wb-unknown" : "wb-done", bar);
  if (busy.share !== null) done.style.width = `${Math.round(busy.share * 100)}%`;
  made("span", "wb-step", at.busy, busy.text);
}

function showProblems(at, problems) {
  at.problem.replaceChildren();
  at.root.classList.toggle("wb-failed", problems.length > 0);
  for (const { message, line, text, place } of problems) {
    const item = made("div", "wb-one", at.problem);
    made("div", "wb-message", item, message);
    if (text) {
      const code = made("pre", "wb-code", item);
      made("span", "wb-line", code, `${line}  `);
      code.append(text);
    }
    if (place) made("div", "wb-place", item, place);
  }
}

function showStatus(at, status) {
  at.title.textContent = status.title ?? "";
  at.told.replaceChildren();
  for (const [name, text] of Object.entries(status.badge ?? {})) {
    if (text) made("span", `wb-badge wb-${name}`, at.told, text);
  }
  showBusy(at, status.busy);
  showProblems(at, status.problems ?? []);
  const lines = [...(status.notes ?? []).map((text) => ["wb-note", text]), ...(status.hints ?? []).map((text) => ["wb-note wb-hinted", text])];
  at.notes.replaceChildren(...lines.map(([name, text]) => made("li", name, null, text)));
  at.log.textContent = status.log ?? "";
  for (const [name, off] of Object.entries({ undo: !status.undo, redo: !status.redo })) {
    const node = at.buttons.querySelector(`.wb-act-${name}`);
    if (node) node.disabled = off;
  }
  for (const [name, open] of Object.entries({ recipe: status.panel, controls: status.controls })) {
    at.root.querySelector(`.wb-act-${name}`)?.setAttribute("aria-expanded", String(Boolean(open)));
  }
}

async function copied(text, at) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = made("textarea", "", document.body, text); // pages without https have no clipboard
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const told = made("span", "wb-badge wb-copied", at.told, "copied");
  setTimeout(() => told.remove(), 1500);
}

// The picture for the saved notebook: the drawn SVG as a small image, made when the page is idle

async function still(gd) {
  const { width, height } = gd.getBoundingClientRect();
  if (!width || !height) return null;
  const scale = Math.min(1, STILL_WIDTH / width);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.fillStyle = gd._fullLayout.paper_bgcolor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const dark = isDarkGround(pen.getImageData(0, 0, 1, 1).data);
  pen.scale(scale, scale);
  for (const layer of gd.querySelectorAll(".gl-canvas, .main-svg")) await drawn(layer, pen, width, height);
  return { picture: canvas.toDataURL("image/webp", 0.8), dark };
}

// The script may have chosen the background. If it did not, the background of the page is visible.
function isDarkGround([red, green, blue, opacity]) {
  return opacity < 128 ? isDark() : 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}

async function drawn(layer, pen, width, height) {
  if (layer.tagName === "CANVAS") return pen.drawImage(layer, 0, 0, width, height);
  const copy = layer.cloneNode(true);
  for (const node of copy.querySelectorAll(".hoverlayer, .zoomlayer, .draglayer, .modebar-container")) node.remove();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  return pen.drawImage(image, 0, 0, width, height);
}

// The view

function render({ model, el }) {
  const at = parts(el);
  const gd = at.figure;
  const id = Math.random().toString(36).slice(2);
  const stops = [];
  let Plotly = null;
  let overview = null; // { data, layout, number } as the kernel sent it
  let staying = {}; // the arrays that the page keeps, as long as their buffer is the same
  let details = new Map(); // trace number -> [[path, values]]
  let painted = Promise.resolve(); // the last drawing
  let drawing = false;
  let again = false;
  let closed = false;
  let rangeTimer, stillTimer;

  const say = (kind, more = {}) => model.send({ kind, view: id, ...more });
  const listen = (event, call) => { model.on(event, call); stops.push(() => model.off(event, call)); };

  for (const [name, title] of BUTTONS) {
    if (model.get("acts").includes(name)) button(name, title, at.buttons, () => {
      if (name === "recipe") SHARED.opening = performance.now(); // the panel brings itself into sight
      say("act", { name });
    });
  }

  const height = () => model.get("height") || overview?.layout.height || 440;

  function composed() {
    const dark = isDark() && !overview.layout.paper_bgcolor && !overview.layout.plot_bgcolor; // else the script chose its ground
    const data = overview.data.map((trace, n) =>
      (details.get(n) ?? []).reduce((made, [path, values]) => placed(made, path, values), dark ? brightened(trace) : { ...trace }));
    const ground = getComputedStyle(document.body).getPropertyValue("--jp-layout-color0").trim() || "#111111";
    const layout = { ...snug(themed(dark ? written(overview.layout) : overview.layout, ground)), autosize: true, height: height() };
    delete layout.width;
    return [data, layout];
  }

  async function draw() {
    if (!Plotly || !overview || closed) return;
    if (drawing) { again = true; return; }
    drawing = true;
    at.stage.style.height = `${height()}px`;
    // Each figure is drawn in a task of its own, so that a page with many plots stays responsive. A single one is drawn at once.
    const turn = SHARED.drawing++ ? SHARED.turn.then(() => new Promise((go) => setTimeout(go))) : Promise.resolve();
    const mine = turn.then(paint).catch((error) => showProblems(at, [{ message: `plotly.js cannot draw this figure: ${error.message}` }]));
    mine.then(() => { SHARED.drawing--; });
    // plotly never finishes a figure that is removed meanwhile; such a figure must not block the others.
    SHARED.turn = painted = Promise.race([mine, new Promise((go) => setTimeout(go, LONGEST_TURN_MS))]);
    await mine;
    drawing = false;
    if (again) { again = false; draw(); }
  }

  async function paint() {
    if (closed || !gd.isConnected) return;
    const first = !gd.on;
    const [data, layout] = composed();
    await Plotly.react(gd, data, structuredClone(layout), CONFIG);
    if (closed) return Plotly.purge(gd);
    at.wait.remove();
    if (first) gd.on("plotly_relayout", relayout);
    if (at.root.dataset.drawn !== String(overview.number)) say("drawn", { number: overview.number });
    at.root.dataset.drawn = overview.number;
    if (model.get("still")) {
      clearTimeout(stillTimer);
      stillTimer = setTimeout(() => requestIdleCallback(sendStill), STILL_AFTER_MS);
    }
  }

  async function sendStill() {
    if (closed || document.hidden) return;
    const number = overview.number;
    const made = await still(gd).catch(() => null);
    if (made && !closed && number === overview.number) say("still", made);
  }

  function relayout(changes) {
    if (!Object.keys(changes).some((key) => AXIS.test(key))) return;
    clearTimeout(rangeTimer);
    rangeTimer = setTimeout(askDetail, RANGE_QUIET_MS);
  }

  function askDetail() {
    if (closed || !overview || !gd._fullData) return;
    const subplots = lookedAt(gd, overview.layout);
    if (!subplots.length && details.size) {
      details = new Map();
      draw();
    }
    if (subplots.length || at.root.dataset.zoomed) say("range", { subplots, number: overview.number });
    at.root.dataset.zoomed = subplots.length ? "yes" : "";
  }

  function show() {
    const text = model.get("spec");
    if (!text) return;
    if (staying.from !== model.get("kept")) {
      const from = model.get("kept");
      staying = { from, read: reader(viewed(from)) };
    }
    const coming = reader(viewed(model.get("buffer")));
    const { number, ...figure } = JSON.parse(text);
    const read = ({ $at, $kept, shape }) => ($kept ? staying.read($kept, shape) : coming($at, shape));
    overview = { ...revived(figure, read), number };
    details = new Map();
    draw().then(() => { if (at.root.dataset.zoomed) askDetail(); });
  }

  function message(content, buffers) {
    if (content.kind === "plotly") unpack(buffers[0]);
    if (content.view !== id) return;
    if (content.kind === "text") copied(content.text, at);
    if (content.kind === "detail" && content.number === overview?.number) {
      const read = reader(buffers[0]);
      const traces = revived(content.traces, ({ $at, shape }) => read($at, shape));
      details = new Map(Object.entries(traces).map(([n, arrays]) =>
        [Number(n), Object.entries(arrays).map(([path, values]) => [path.split("."), values])]));
      draw();
    }
  }

  listen("msg:custom", message);
  // Text and buffers come in one message, but their events come one after the other, and any may be unchanged.
  let arrived = false;
  const once = () => {
    if (arrived) return;
    arrived = true;
    queueMicrotask(() => { arrived = false; if (!closed) show(); });
  };
  listen("change:kept", once);
  listen("change:buffer", once);
  listen("change:spec", once);
  listen("change:height", draw);
  // Texts that come with a figure are shown after it is drawn. This saves a second layout while it is drawn.
  listen("change:status", () => painted.then(() => showStatus(at, model.get("status"))));
  showStatus(at, model.get("status"));
  stops.push(onTheme(draw));

  let width = 0;
  const sizes = new ResizeObserver(() => {
    const now = at.stage.clientWidth;
    if (now && now !== width && gd._fullLayout && !drawing) Plotly.Plots.resize(gd);
    width = now || width;
  });
  sizes.observe(at.stage);
  stops.push(() => sizes.disconnect());

  const checks = setInterval(() => { if (!document.hidden && el.isConnected) say("check"); }, CHECK_MS);
  stops.push(() => clearInterval(checks));

  // While the plot is live, hide the picture that the saved notebook shows instead of it.
  if (model.get("still")) {
    const style = made("style", "", document.head, `.jp-OutputArea-child:has([data-wb-still="${model.get("still")}"]) { display: none; }`);
    stops.push(() => style.remove());
  }

  SHARED.sources.set(id, { model, asked: 0 });
  library(model).then((loaded) => { Plotly = loaded; draw(); });
  show();

  return () => {
    closed = true;
    SHARED.sources.delete(id);
    clearTimeout(rangeTimer);
    clearTimeout(stillTimer);
    for (const stop of stops) stop();
    if (Plotly && gd._fullLayout) Plotly.purge(gd);
  };
}

export default { render };
