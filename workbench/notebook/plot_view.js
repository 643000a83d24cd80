// Draws figures with plotly.js, in notebooks and on the page of the server. In a notebook plotly_library.js brings the
// file of plotly.js that a figure needs. The page's model has a method `library`, which loads it.
// This file imports nothing, since a widget is one text: figure_layout.js, still_picture.js and plotly_library.js come
// before it.

const CONFIG = { showSendToCloud: false, plotlyServerURL: "", displaylogo: false, responsive: false, showTips: false };
const RANGE_QUIET_MS = 180;
const LONGEST_TURN_MS = 1500;
const CHECK_MS = 30000;
const MOST_NAMES = 8;
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

function icon(path) {
  const part = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const svg = part("svg", { viewBox: "0 0 20 20", width: "15", height: "15", "aria-hidden": "true" });
  svg.append(part("path", { fill: "currentColor", d: path }));
  return svg;
}

function button(name, title, parent, act) {
  const node = made("button", `wb-button wb-act-${name}`, parent);
  node.type = "button";
  node.title = title;
  node.setAttribute("aria-label", title);
  node.append(icon(ICONS[name]));
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
  const progress = made("div", "wb-progress");
  made("div", "wb-done", progress);
  const working = made("div", "wb-working");
  const stop = made("button", "wb-stop", working, "Stop");
  stop.type = "button";
  stop.title = "Stop drawing; the figure that is shown stays";
  made("span", "wb-step", working);
  const problem = made("div", "wb-problem", root);
  problem.setAttribute("role", "alert");
  const notes = made("ul", "wb-notes", root);
  const log = made("pre", "wb-log", root);
  return { root, bar, buttons, title, told, stage, figure, wait, busy, progress, working, stop, problem, notes, log };
}

// The picture in words, for people who hear the page: one image with a name, and the rest of the layers unheard.
function describe(gd, name) {
  const plain = (text) => String(text ?? "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim();
  const full = gd._fullLayout;
  const title = [plain(name), plain(gd.layout.title?.text)].filter(Boolean);
  const axes = [...new Set(Object.keys(full).filter((key) => /^[xy]axis\d*$/.test(key)).map((key) => plain(gd.layout[key]?.title?.text)))];
  const names = gd._fullData.filter((trace) => trace.visible === true).map((trace) => (gd.data[trace.index]?.name ? plain(trace.name) : ""));
  const shown = names.filter(Boolean);
  const few = shown.length > MOST_NAMES ? `${shown.slice(0, MOST_NAMES).join(", ")} and ${shown.length - MOST_NAMES} more` : shown.join(", ");
  const words = [
    `Figure${title.length ? `: ${[...new Set(title)].join(", ")}` : ""}`,
    axes.some(Boolean) ? `axes ${axes.filter(Boolean).join(", ")}` : "",
    `${names.length} ${names.length === 1 ? "trace" : "traces"}${few ? `: ${few}` : ""}`,
  ].filter(Boolean).join(". ");
  gd.setAttribute("role", "group");
  gd.setAttribute("aria-label", `${title[0] ?? "Figure"}, with its buttons`);
  gd.querySelectorAll(".main-svg").forEach((layer, place) => {
    if (place) return layer.setAttribute("aria-hidden", "true");
    layer.setAttribute("role", "img");
    layer.setAttribute("aria-label", `${words}.`);
  });
  for (const icon of gd.querySelectorAll(".modebar-btn svg")) icon.setAttribute("aria-hidden", "true");
}

function showBusy(at, busy) {
  at.stage.classList.toggle("wb-dim", Boolean(busy));
  if (!busy) {
    at.stop.disabled = false;
    at.busy.replaceChildren();
    return;
  }
  // The button stays the same one, so that a click on it is not lost while the text changes.
  if (!at.busy.hasChildNodes()) at.busy.append(at.progress, at.working);
  const done = at.progress.firstChild;
  done.classList.toggle("wb-unknown", busy.share === null);
  done.style.width = busy.share === null ? "" : `${Math.round(busy.share * 100)}%`;
  at.working.lastChild.textContent = busy.text;
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
  const focused = at.buttons.querySelector("button:focus");
  for (const [name, off] of Object.entries({ undo: !status.undo, redo: !status.redo })) {
    const node = at.buttons.querySelector(`.wb-act-${name}`);
    if (node) node.disabled = off;
  }
  // The last undo ends its own button: who works by keyboard goes on with the button beside it.
  if (focused?.disabled) at.buttons.querySelector("button:not(:disabled)")?.focus();
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

  const say = (kind, more = {}) => {
    try {
      model.send({ kind, view: id, ...more });
    } catch {
      // The kernel is gone: nobody hears what a view that it left says.
    }
  };
  const listen = (event, call) => { model.on(event, call); stops.push(() => model.off(event, call)); };

  for (const [name, title] of BUTTONS) {
    if (model.get("acts").includes(name)) button(name, title, at.buttons, () => {
      if (name === "recipe") SHARED.opening = performance.now(); // the panel brings itself into sight
      say("act", { name });
    });
  }

  at.stop.addEventListener("click", () => { at.stop.disabled = true; say("stop"); });

  const height = () => model.get("height") || overview?.layout.height || 440;
  let composedFor = 0;
  let corrected = false;

  function composed(onDark = isDark()) {
    const dark = onDark && !choseGround(overview.layout);
    const data = overview.data.map((trace, n) =>
      (details.get(n) ?? []).reduce((made, [path, values]) => placed(made, path, values), dark ? brightened(trace) : { ...trace }));
    const ground = getComputedStyle(document.body).getPropertyValue("--jp-layout-color0").trim() || "#111111";
    const layout = { ...snug(onDark ? themed(dark ? written(overview.layout) : overview.layout, ground) : overview.layout), autosize: true, height: height() };
    delete layout.width;
    return [data, fitted(layout, data, composedFor, height())];
  }

  // The figure as it is shown, in its own colours: pictures of it are for paper, also where the page is dark.
  gd.onPaper = () => {
    const [data, layout] = composed(false);
    for (const key of Object.keys(gd.layout).filter((one) => /^[xy]axis\d*$/.test(one))) {
      const { range, autorange } = gd.layout[key];
      layout[key] = { ...layout[key], range, autorange };
    }
    return { data: data.map((trace, n) => ({ ...trace, visible: gd.data[n].visible })), layout: structuredClone(layout) };
  };

  // Whether a width needs other fonts than the one that the figure was composed for; hidden, it was composed for none.
  const crossed = (now) => now > 0 && (!composedFor || (composedFor < SMALL_WIDTH) !== (now < SMALL_WIDTH));

  // The file that draws the figure, once it is there. The whole draws what the small one does, so a view stays with it.
  function found() {
    const whole = SHARED.libraries.get("whole")?.plotly;
    if (whole && (overview.library === "whole" || Plotly === whole)) return whole;
    return SHARED.libraries.get(overview.library)?.plotly;
  }

  async function draw() {
    if (!overview || closed || !(model.library || found())) return;
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
    // In a change of the theme the page has another width for a moment, and this may be when a figure was composed.
    const other = !again && !corrected && crossed(at.stage.clientWidth);
    // Once: where the width follows from the fonts it would go on for ever.
    corrected = other;
    if (other) requestAnimationFrame(draw);
    else if (again) { again = false; draw(); }
  }

  async function paint() {
    if (closed || !gd.isConnected) return;
    // Also where nothing can be drawn, so that it is not tried again and again.
    composedFor = at.stage.clientWidth;
    const needed = model.library ? await model.library(overview) : found();
    if (closed || !gd.isConnected || !needed) return; // what brings a file draws
    if (Plotly && needed !== Plotly && gd._fullLayout) Plotly.purge(gd);
    Plotly = needed;
    const first = !gd.on;
    const [data, layout] = composed();
    await Plotly.react(gd, data, structuredClone(layout), CONFIG);
    if (closed) return Plotly.purge(gd);
    at.wait.remove();
    describe(gd, model.get("status").title);
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
    if (typeof text === "object") return showFigure(text); // the page gives the figure itself
    if (staying.from !== model.get("kept")) {
      const from = model.get("kept");
      staying = { from, read: reader(viewed(from)) };
    }
    const coming = reader(viewed(model.get("buffer")));
    const { number, ...figure } = JSON.parse(text);
    const read = ({ $at, $kept, shape }) => ($kept ? staying.read($kept, shape) : coming($at, shape));
    showFigure({ ...revived(figure, read), number });
  }

  function showFigure(figure) {
    overview = figure;
    details = new Map();
    const there = model.library || found() ? Promise.resolve() : library(figure.library, id).here;
    there.then(draw).then(() => { if (at.root.dataset.zoomed) askDetail(); });
  }

  function message(content, buffers) {
    if (content.kind === "plotly") unpack(content.name, buffers[0]);
    if (content.view !== id) return;
    if (content.kind === "text") copied(content.text, at);
    if (content.kind === "detail" && content.number === overview?.number) {
      const read = buffers?.length ? reader(buffers[0]) : null;
      const traces = read ? revived(content.traces, ({ $at, shape }) => read($at, shape)) : content.traces;
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
  // ipywidgets has marked the elements by then. Where the kernel ended, controls would move and change nothing.
  listen("comm_live_update", () => queueMicrotask(() => {
    const gone = el.closest(".jupyter-widgets-disconnected") !== null;
    const frame = el.closest(".wb-board-frame") ?? el.closest(".wb-view") ?? el;
    for (const part of frame.querySelectorAll(".wb-board-bar, .wb-controls, .wb-buttons, .wb-recipe")) part.inert = gone;
    showStatus(at, model.get("status"));
    if (gone) at.told.replaceChildren(made("span", "wb-badge", null, "The kernel has ended. Run the cell again."));
  }));
  showStatus(at, model.get("status"));
  stops.push(onTheme(draw));

  // plotly forgets the height of the layout in a resize, and takes that of the element.
  const resized = () => Plotly.Plots.resize(gd).then(() => { if (gd.layout && !closed) gd.layout.height = height(); });

  let width = 0;
  const sizes = new ResizeObserver(() => {
    const now = at.stage.clientWidth;
    if (!now || (now === width && !crossed(now))) return;
    width = now;
    if (drawing) again = true;
    else if (crossed(now)) draw();
    else if (gd._fullLayout) resized();
  });
  sizes.observe(at.stage);
  stops.push(() => sizes.disconnect());

  const checks = setInterval(() => { if (!document.hidden && el.isConnected) say("check"); }, CHECK_MS);
  stops.push(() => clearInterval(checks));

  // While the plot is live, hide the picture that the saved notebook shows instead of it.
  if (model.get("still")) {
    stops.push(hideStill(model.get("still")));
  }

  if (!model.library) SHARED.sources.set(id, { model, asked: 0 });
  show();
  // While the kernel computes the first figure, the page gets the file that it very likely needs.
  if (!model.library && !overview) library("small", id);

  return () => {
    closed = true;
    SHARED.sources.delete(id);
    clearTimeout(rangeTimer);
    clearTimeout(stillTimer);
    for (const stop of stops) stop();
    if (Plotly && gd._fullLayout) Plotly.purge(gd);
  };
}

// `render` is not among them: anywidget warns on each page of a widget that exports it by its name.
export { CONFIG, fitted, isDark, lookedAt, snug, steady, themed };
export default { render };
