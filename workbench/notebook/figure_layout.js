// What a plot does to the layout and the colours of a figure before it is drawn: light and dark, small sizes, zoom
// that stays. The text of this file comes before plot_view.js: a widget is one text, which imports nothing.

const SMALL_WIDTH = 480; // below these, in pixels, a figure has small fonts and its legend below the plot
const SMALL_HEIGHT = 320;
const SMALL_FONT = 12;
const SMALLEST = 7;

// The axes of figures that have others than x and y.
const OTHER_AXES = {
  __proto__: null, polar: ["angularaxis", "radialaxis"], smith: ["realaxis", "imaginaryaxis"],
  ternary: ["aaxis", "baxis", "caxis"], scene: ["xaxis", "yaxis", "zaxis"],
};
const axesOf = (key) => OTHER_AXES[key.replace(/\d+$/, "")];
const changed = (one, names, change) => ({ ...one, ...Object.fromEntries(names.map((name) => [name, change(one?.[name], name)])) });

// Light and dark

function isDark() {
  const { wbTheme, jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (wbTheme !== undefined) return wbTheme === "dark";
  if (jpThemeLight !== undefined) return jpThemeLight === "false";
  if (vscodeThemeKind !== undefined) return ["vscode-dark", "vscode-high-contrast"].includes(vscodeThemeKind);
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function onTheme(call) {
  const observer = new MutationObserver(call);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-wb-theme", "data-jp-theme-light", "data-vscode-theme-kind"] });
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

// A small figure keeps room for its plot: fonts of at most 12 pixels, titles in several lines, the legend below the plot
// with at most 30 % of the height.
function fitted(layout, data, width, height) {
  if (!width) return layout;
  if (width >= SMALL_WIDTH && height >= SMALL_HEIGHT) return tallEnough(layout, height);
  const base = layout.template?.layout ?? {};
  const size = Math.min(layout.font?.size ?? base.font?.size ?? SMALL_FONT, SMALL_FONT);
  const small = (font) => ({ ...font, size: Math.min(font?.size ?? size, SMALL_FONT) });
  const letters = (pixels) => Math.max(12, Math.floor(pixels / (size * 0.56)));
  const made = { ...layout, font: { ...layout.font, size } };
  if (layout.title?.text) made.title = { ...layout.title, text: wrapped(layout.title.text, letters(width)), font: small(layout.title.font) };
  const axes = new Set([...Object.keys(layout), ...Object.keys(base), "xaxis", "yaxis"].filter((key) => /^[xy]axis\d*$/.test(key)));
  for (const key of axes) {
    const axis = layout[key] ?? {};
    const title = axis.title ?? {};
    made[key] = { ...axis, automargin: true, tickfont: small(axis.tickfont) };
    if (title.text) made[key].title = { ...title, text: wrapped(title.text, letters(key[0] === "x" ? width * 0.8 : height * 0.7)), font: small(title.font), standoff: 6 };
  }
  const shown = data.filter((trace) => trace.showlegend !== false && trace.name && trace.visible !== "legendonly").length;
  const legend = { ...base.legend, ...layout.legend };
  const listed = shown > 1 && layout.showlegend !== false;
  if (listed && legend.orientation !== "h") {
    made.legend = { ...layout.legend, orientation: "h", x: 0, xanchor: "left", y: -0.32, yanchor: "top", maxheight: 0.3, font: small(legend.font) };
  } else if (listed && legend.maxheight === undefined) {
    made.legend = { ...layout.legend, maxheight: 0.3 }; // plotly gives it half of the height
  }
  let top = layout.title?.text ? 48 : 28;
  made.annotations = layout.annotations?.map((note) => {
    if (note.yref !== "paper" || note.y !== 1 || note.yanchor !== "bottom") return note;
    if (note.xanchor === "center") top = Math.max(top, 18 * note.text.split("<br>").length + 8); // the title of a panel
    if (note.xanchor !== "left") return note;
    const text = wrapped(note.text, letters(width - 60)); // a note above the plot
    const yshift = Math.max(note.yshift ?? 0, top - 28);
    top = Math.max(top, yshift + 15 * text.split("<br>").length + 12);
    return { ...note, text, yshift };
  });
  made.margin = { ...(layout.margin ?? base.margin ?? {}), l: 44, r: 12, b: 40, t: top };
  return uncrowded(made, base, (height - top - 40) * (listed ? 0.65 : 0.8));
}

// Names that a script puts along a y axis one by one, as of cells: where they would lie over each other, smaller and fewer.
function uncrowded(layout, base, height) {
  const made = { ...layout };
  for (const key of Object.keys(made).filter((one) => /^yaxis\d*$/.test(one))) {
    const { tickvals, ticktext, tickfont, domain = [0, 1] } = made[key] ?? {};
    if (!Array.isArray(tickvals) || !Array.isArray(ticktext)) continue;
    const room = (height * (domain[1] - domain[0])) / ticktext.length;
    const size = tickfont?.size ?? base.yaxis?.tickfont?.size ?? base.font?.size ?? SMALL_FONT;
    if (room >= size) continue;
    const kept = (all) => all.filter((_, n) => n % Math.ceil(SMALLEST / room) === 0);
    const font = { ...tickfont, size: Math.max(SMALLEST, Math.floor(room)) };
    made[key] = { ...made[key], tickvals: kept(tickvals), ticktext: kept(ticktext), tickfont: font };
    // A note that begins over the names begins further right, as they do.
    made.annotations = made.annotations?.map((note) => (note.xshift < 0 ? { ...note, xshift: (note.xshift * font.size) / size } : note));
  }
  return made;
}

// Titles of y axes that are longer than the plot is high are written in lines.
function tallEnough(layout, height) {
  const base = layout.template?.layout ?? {};
  const made = uncrowded(layout, base, height * 0.6);
  for (const [key, axis] of Object.entries(made)) {
    const text = /^yaxis\d*$/.test(key) && axis?.title?.text;
    if (!text) continue;
    const size = axis.title.font?.size ?? base.yaxis?.title?.font?.size ?? layout.font?.size ?? base.font?.size ?? 14;
    const share = Array.isArray(axis.domain) ? axis.domain[1] - axis.domain[0] : 1;
    const lines = wrapped(text, Math.max(12, Math.floor((share * height * 0.72) / (size * 0.54))));
    if (lines !== text) made[key] = { ...axis, automargin: true, title: { ...axis.title, text: lines } };
  }
  return made;
}

// A text in lines of at most so many letters; one with markup other than lines stays as it is.
function wrapped(text, most) {
  if (text.length <= most || /<(?!br>)|&/.test(text)) return text;
  const lines = [];
  const even = Math.min(most, Math.ceil(text.length / Math.ceil(text.length / most)) + 4); // no short last line
  for (const word of text.split(/ |<br>/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < even) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join("<br>");
}

// The layout with zoom and legend that stay as the user set them while `keep` is the same text. An axis with a new title
// shows another quantity, so its zoom is reset. A `uirevision` of the script has priority.
function steady(layout, keep) {
  const made = { uirevision: keep, ...layout };
  for (const name of Object.keys(layout).filter((key) => key.slice(1).startsWith("axis"))) {
    const axis = layout[name] ?? {};
    const text = typeof axis.title === "object" ? axis.title?.text : axis.title;
    made[name] = { uirevision: `${keep} ${text || ""} ${axis.type || ""}`, ...axis };
  }
  return made;
}

// Whether the script chose the colour of a ground: then its other colours are meant for that.
function choseGround(layout) {
  return Boolean(layout.paper_bgcolor || layout.plot_bgcolor)
    || Object.keys(layout).some((key) => axesOf(key) && layout[key]?.bgcolor);
}

function isOnLightPaper(layout) {
  const { rgb, opaque } = rgbOf(layout.paper_bgcolor);
  return Boolean(rgb) && Number(opaque) > 0.5 && Math.min(...rgb) >= 150;
}

function themed(layout, ground) {
  if (!isDark() || isOnLightPaper(layout)) return layout;
  const template = layout.template ?? {};
  const base = template.layout ?? {};
  const axis = {
    gridcolor: "rgba(255,255,255,0.13)", linecolor: "rgba(255,255,255,0.5)",
    zerolinecolor: "rgba(255,255,255,0.28)", tickcolor: "rgba(255,255,255,0.5)",
  };
  const dark = {
    ...changed(base, choseGround(layout) ? [] : Object.keys(OTHER_AXES), (frame, key) => ({
      ...changed(frame, OTHER_AXES[key], (one) => ({ ...one, ...axis, backgroundcolor: ground })), bgcolor: ground,
    })),
    paper_bgcolor: ground, plot_bgcolor: ground,
    font: { ...base.font, color: "#d8dbe0" },
    xaxis: { ...base.xaxis, ...axis }, yaxis: { ...base.yaxis, ...axis },
    legend: { ...base.legend, bgcolor: "rgba(0,0,0,0)" },
    modebar: { ...base.modebar, bgcolor: "rgba(0,0,0,0)", color: "rgba(255,255,255,0.45)", activecolor: "rgba(255,255,255,0.9)" },
  };
  return { ...layout, template: { ...template, layout: dark } };
}

// Annotations and axis titles for which the script chose a colour. A white or light grey box behind a text is the ground,
// which is dark here; in a box of another light colour the text stays dark.
function written(layout) {
  const read = (text) => (text?.font?.color ? { ...text, font: { ...text.font, color: inked(text.font.color) } } : text);
  const boxed = (text) => {
    const { rgb, opaque } = rgbOf(text?.bgcolor);
    if (!rgb || Math.min(...rgb) < 150) return read(text);
    return isGrey(rgb) ? read({ ...text, bgcolor: `rgba(30, 30, 30, ${opaque})` }) : { ...text, font: { color: "#222", ...text.font } };
  };
  const made = { ...layout };
  if (Array.isArray(layout.annotations)) made.annotations = layout.annotations.map(boxed);
  const axis = (one) => {
    if (!one?.title?.font && !one?.tickfont) return one;
    return { ...one, title: read(one.title), tickfont: read({ font: one.tickfont }).font };
  };
  for (const [key, one] of Object.entries(layout)) {
    if (/^[xy]axis\d*$/.test(key)) made[key] = axis(one);
    else if (axesOf(key)) made[key] = { ...changed(one, axesOf(key), axis), annotations: one?.annotations?.map(boxed) };
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

const isGrey = (rgb) => Math.max(...rgb) - Math.min(...rgb) <= 30;

// Red, green and blue of a colour, and how opaque it is as text; nothing for most names.
const NAMES = { black: "#000", white: "#fff" };
function rgbOf(name) {
  const color = NAMES[name] ?? name;
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(color)?.[1];
  const given = /^rgba?\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*(?:,\s*([\d.]+)\s*)?\)$/.exec(color);
  const rgb = hex ? hex.match(hex.length === 3 ? /./g : /../g).map((part) => parseInt(part.padEnd(2, part), 16)) : given?.slice(1, 4).map(Number);
  return { rgb, opaque: given?.[4] ?? "1" };
}

function inked(color) {
  const { rgb, opaque } = rgbOf(color);
  if (!rgb || (isGrey(rgb) ? Math.max(...rgb) > 110 : luminance(rgb) >= SEEN)) return color;
  return `rgba(${isGrey(rgb) ? rgb.map((part) => 235 - part) : lifted(rgb)}, ${opaque})`;
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

