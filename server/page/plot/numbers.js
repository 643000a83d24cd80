// The numbers of a figure as rows, as in the csv export: traces with their places and values. Error bars and hover values are
// in that file alone.

/** @type {Record<string, any>} */
const TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array, i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array };
/** Most rows: what is beyond is in the exports, and the page says so. */
export const MOST_ROWS = 20_000;

/** A list of values, or of lists of values. @param {any} given @returns {ArrayLike<any> | null} */
export function values(given) {
  if (Array.isArray(given)) return given;
  if (!given || typeof given !== "object" || !given.bdata) return null;
  const bytes = Uint8Array.from(atob(given.bdata), (letter) => letter.charCodeAt(0));
  const Type = TYPES[given.dtype];
  if (!Type) return null;
  const all = new Type(bytes.buffer);
  const [rows, width] = String(given.shape ?? "").split(",").map(Number);
  return width ? Array.from({ length: rows }, (_, n) => all.subarray(n * width, (n + 1) * width)) : all;
}

/** @param {any} text */
const plain = (text) => String(text ?? "").replace(/<br\s*\/?>/gi, " ").replace(/<[^>]*>/g, "").trim();

/** The place of a value along an axis that has no list of places. @param {any} trace @param {"x" | "y"} letter @param {number} n */
const implied = (trace, letter, n) => {
  const start = trace[`${letter}0`] ?? 0;
  return typeof start === "number" ? start + n * (trace[`d${letter}`] ?? 1) : n;
};

/** Kinds of places that are not x and y: what plotly calls them, what we call one without a title, and where titles are. */
const OTHER_PLACES = [
  { keys: ["theta", "r"], words: ["Angle", "Radius"], home: "polar", axes: ["angularaxis", "radialaxis"] },
  { keys: ["a", "b", "c"], words: ["a", "b", "c"], home: "ternary", axes: ["aaxis", "baxis", "caxis"] },
  { keys: ["real", "imag"], words: ["Real part", "Imaginary part"], home: "smith", axes: [] },
  { keys: ["lon", "lat", "z"], words: ["Longitude", "Latitude", "z"], home: "geo", axes: [] },
  { keys: ["locations", "z"], words: ["Location", "z"], home: "geo", axes: [] },
];

/** A title as a mapping, or as the text itself. @param {any} title */
const titled = (title) => plain(typeof title === "string" ? title : title?.text);

/** The columns of a trace that has no x and y, each with its heading. @param {any} trace @param {any} layout @returns {[string, ArrayLike<any>][] | null} */
function otherColumns(trace, layout) {
  if (["parcoords", "parcats", "splom"].includes(trace.type)) return Array.from(trace.dimensions ?? [], (one, n) => [plain(one?.label) || `Dimension ${n + 1}`, values(one?.values) ?? []]);
  if (trace.x || trace.y) return null;
  const kind = OTHER_PLACES.find(({ keys }) => keys.some((key) => key !== "z" && values(trace[key])));
  if (!kind) return null;
  const home = layout[trace.subplot ?? trace.geo ?? kind.home];
  return kind.keys.flatMap((key, n) => {
    const found = values(trace[key]);
    const title = key === "z" ? trace.colorbar?.title : home?.[kind.axes[n]]?.title;
    return found ? [/** @type {[string, ArrayLike<any>]} */ ([titled(title) || kind.words[n], found])] : [];
  });
}

/** How many rows a trace has, and each by its number. @param {any} trace @returns {{ length: number, row: (n: number) => Record<string, any> }} */
function numbersOf(trace) {
  const [x, y, z] = [values(trace.x), values(trace.y), values(trace.z)];
  if (z && typeof z[0] === "object" && z[0] !== null) {
    const width = Math.max(...Array.from(z, (line) => line?.length ?? 0));
    return { length: z.length * width, row: (n) => {
      const [down, across] = [Math.floor(n / width), n % width];
      return { x: x ? x[across] : implied(trace, "x", across), y: y ? y[down] : implied(trace, "y", down), z: z[down]?.[across] };
    } };
  }
  const parts = values(trace.values);
  if (parts) {
    const names = values(trace.labels);
    return { length: parts.length, row: (n) => ({ x: names?.[n] ?? n, y: parts[n] }) };
  }
  const length = Math.max(x?.length ?? 0, y?.length ?? 0, z?.length ?? 0);
  const spread = ["box", "violin", "histogram"].includes(trace.type); // a list alone is what is counted, not a curve
  return { length, row: (n) => ({ x: x ? x[n] : y && !spread ? implied(trace, "x", n) : null, y: y ? y[n] : x && !spread ? implied(trace, "y", n) : null, z: z?.[n] }) };
}

/** The cells of tables in a figure. @param {any[]} traces */
function tableOfCells(traces) {
  /** @type {Map<string, { key: string, label: string }>} */
  const columns = new Map();
  /** @type {any[]} */
  const rows = [];
  for (const trace of traces) {
    const cells = Array.from(values(trace.cells?.values) ?? [], (column) => values(column) ?? [column]);
    const titles = Array.from(cells, (_, n) => {
      const title = values(trace.header?.values)?.[n];
      return plain(Array.isArray(title) ? title[0] : title) || `column ${n + 1}`;
    });
    titles.forEach((label, n) => { if (!columns.has(`${n} ${label}`)) columns.set(`${n} ${label}`, { key: `${n} ${label}`, label }); });
    const length = Math.max(0, ...cells.map((column) => column.length));
    for (let i = 0; i < length; i++) rows.push(Object.fromEntries(cells.map((column, n) => [`${n} ${titles[n]}`, typeof column[i] === "string" ? plain(column[i]) : column[i] ?? null])));
  }
  return { columns: [...columns.values()], rows: rows.slice(0, MOST_ROWS), more: Math.max(0, rows.length - MOST_ROWS) };
}

/** @param {any} figure @returns {{ columns: { key: string, label: string, number?: boolean }[], rows: any[], more: number }} */
export function tracesTable(figure) {
  const drawn = figure.data.filter((/** @type {any} */ trace) => trace.type !== "table");
  if (!drawn.length) return tableOfCells(figure.data);
  const titleOf = (/** @type {string} */ letter) => {
    const axes = Object.keys(figure.layout).filter((key) => new RegExp(`^${letter}axis\\d*$`).test(key));
    const titles = new Set(axes.map((key) => plain(figure.layout[key]?.title?.text)).filter(Boolean));
    return titles.size === 1 ? [...titles][0] : letter;
  };
  const colors = new Set(Object.keys(figure.layout).filter((key) => /^coloraxis\d*$/.test(key)).map((key) => figure.layout[key]).concat(drawn).map((one) => plain(one?.colorbar?.title?.text)).filter(Boolean));
  /** @type {any[]} */
  const rows = [];
  /** Headings of columns that are not x, y and z. @type {Set<string>} */
  const headings = new Set();
  let [more, hasPlaces] = [0, false];
  figure.data.forEach((/** @type {any} */ trace, /** @type {number} */ n) => {
    if (trace.type === "table") return;
    const other = otherColumns(trace, figure.layout);
    hasPlaces ||= !other;
    /** @type {Map<string, ArrayLike<any>>} */
    const named = new Map();
    for (const [heading, found] of other ?? []) named.set(named.has(heading) ? `${heading}, ${named.size + 1}` : heading, found);
    named.forEach((_, heading) => headings.add(heading));
    const { length, row } = other
      ? { length: Math.max(0, ...other.map(([, found]) => found.length)), row: (/** @type {number} */ i) => Object.fromEntries(Array.from(named, ([heading, found]) => [`: ${heading}`, found[i] ?? null])) }
      : numbersOf(trace);
    for (let i = 0; i < length; i++) {
      const one = row(i);
      if (!other && (one.y ?? null) === null && (one.z ?? null) === null && ((one.x ?? null) === null || values(trace.y))) continue; // a trace that is only in the legend
      if (rows.length >= MOST_ROWS) { more += length - i; return; }
      rows.push({ trace: plain(trace.name) || `trace ${n + 1}`, ...(other ? one : { x: one.x ?? null, y: one.y ?? null, z: one.z ?? null }) });
    }
  });
  /** @type {{ key: string, label: string, number?: boolean }[]} */
  const columns = [{ key: "trace", label: "Trace" }];
  if (hasPlaces) columns.push({ key: "x", label: titleOf("x"), number: true }, { key: "y", label: titleOf("y"), number: true });
  if (rows.some((one) => (one.z ?? null) !== null)) columns.push({ key: "z", label: colors.size === 1 ? [...colors][0] : "z", number: true });
  return { columns: [...columns, ...Array.from(headings, (label) => ({ key: `: ${label}`, label, number: true }))], rows, more };
}
