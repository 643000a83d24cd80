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

/** Kinds of places that are not x and y: the values of each, which columns they take, and where their titles are. */
const OTHER_PLACES = [
  { keys: ["theta", "r"], words: ["Angle", "Radius"], home: "polar", axes: ["angularaxis", "radialaxis"] },
  { keys: ["a", "b", "c"], words: ["a", "b", "c"], home: "ternary", axes: ["aaxis", "baxis", "caxis"] },
  { keys: ["real", "imag"], words: ["Real part", "Imaginary part"], home: "smith", axes: ["", ""] },
  { keys: ["lon", "lat"], words: ["Longitude", "Latitude"], home: "geo", axes: ["", ""] },
];

/** @param {any} trace */
const otherPlaces = (trace) => (trace.x || trace.y || trace.z ? undefined : OTHER_PLACES.find(({ keys }) => keys.some((key) => values(trace[key]))));

/** How many rows a trace has, and each by its number. @param {any} trace @returns {{ length: number, row: (n: number) => Record<string, any> }} */
function numbersOf(trace) {
  const other = otherPlaces(trace);
  if (other) {
    const [one, two, three] = other.keys.map((key) => values(trace[key]));
    const length = Math.max(one?.length ?? 0, two?.length ?? 0, three?.length ?? 0);
    return { length, row: (n) => ({ x: one?.[n], y: two?.[n], z: three?.[n] }) };
  }
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

/** Named lists side by side, as parallel coordinates show them, as the table that they are. @param {any} trace */
const asTable = (trace) => (Array.isArray(trace.dimensions)
  ? { type: "table", header: { values: trace.dimensions.map((/** @type {any} */ one, /** @type {number} */ n) => one.label || `Dimension ${n + 1}`) }, cells: { values: trace.dimensions.map((/** @type {any} */ one) => one.values) } }
  : trace);

/** @param {any} figure @returns {{ columns: { key: string, label: string, number?: boolean }[], rows: any[], more: number }} */
export function tracesTable(figure) {
  const traces = figure.data.map(asTable);
  const drawn = traces.filter((/** @type {any} */ trace) => trace.type !== "table");
  if (!drawn.length) return tableOfCells(traces);
  const kinds = new Set(drawn.map(otherPlaces));
  const [other] = kinds.size === 1 ? kinds : [undefined];
  const titleOf = (/** @type {string} */ letter) => {
    const place = "xyz".indexOf(letter);
    if (other) return plain(figure.layout[drawn[0].subplot ?? other.home]?.[other.axes[place]]?.title?.text) || other.words[place];
    const axes = Object.keys(figure.layout).filter((key) => new RegExp(`^${letter}axis\\d*$`).test(key));
    const titles = new Set(axes.map((key) => plain(figure.layout[key]?.title?.text)).filter(Boolean));
    return titles.size === 1 ? [...titles][0] : letter;
  };
  const colors = new Set(Object.keys(figure.layout).filter((key) => /^coloraxis\d*$/.test(key)).map((key) => figure.layout[key]).concat(drawn).map((one) => plain(one?.colorbar?.title?.text)).filter(Boolean));
  /** @type {any[]} */
  const rows = [];
  let more = 0;
  drawn.forEach((/** @type {any} */ trace, /** @type {number} */ n) => {
    const { length, row } = numbersOf(trace);
    for (let i = 0; i < length; i++) {
      const { x = null, y = null, z = null } = row(i);
      if (y === null && z === null && (x === null || values(trace.y))) continue; // a trace that is only in the legend
      if (rows.length >= MOST_ROWS) { more += length - i; return; }
      rows.push({ trace: plain(trace.name) || `trace ${n + 1}`, x, y, z });
    }
  });
  const columns = [{ key: "trace", label: "Trace" }, { key: "x", label: titleOf("x"), number: true }, { key: "y", label: titleOf("y"), number: true }];
  if (rows.some((one) => one.z !== null)) columns.push({ key: "z", label: other ? titleOf("z") : colors.size === 1 ? [...colors][0] : "z", number: true });
  return { columns, rows, more };
}
