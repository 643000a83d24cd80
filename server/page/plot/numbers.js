// The numbers of a figure as rows, in the long form of the csv export.

/** @type {Record<string, any>} */
const TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array, i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array };
const MOST = 20_000;

/** @param {any} given @returns {ArrayLike<any> | null} */
export function values(given) {
  if (Array.isArray(given)) return given;
  if (!given || typeof given !== "object" || !given.bdata) return null;
  const bytes = Uint8Array.from(atob(given.bdata), (letter) => letter.charCodeAt(0));
  const Type = TYPES[given.dtype];
  return Type ? new Type(bytes.buffer) : null;
}

/** @param {any} text */
const plain = (text) => String(text ?? "").replace(/<br\s*\/?>/gi, " ").replace(/<[^>]*>/g, "").trim();

/** @param {any} figure */
export function tracesTable(figure) {
  const titleOf = (/** @type {string} */ letter) => {
    const axes = Object.keys(figure.layout).filter((key) => new RegExp(`^${letter}axis\\d*$`).test(key));
    const titles = new Set(axes.map((key) => plain(figure.layout[key]?.title?.text)).filter(Boolean));
    return titles.size === 1 ? [...titles][0] : letter;
  };
  const columns = [{ key: "trace", label: "Trace" }, { key: "x", label: titleOf("x"), number: true }, { key: "y", label: titleOf("y"), number: true }];
  /** @type {any[]} */
  const rows = [];
  let more = 0;
  figure.data.forEach((/** @type {any} */ trace, /** @type {number} */ n) => {
    const [x, y] = [values(trace.x), values(trace.y)];
    const length = Math.max(x?.length ?? 0, y?.length ?? 0);
    for (let i = 0; i < length; i++) {
      if (x?.[i] == null && y?.[i] == null) continue; // a trace that is only in the legend
      if (rows.length >= MOST) { more += length - i; return; }
      rows.push({ trace: plain(trace.name) || `trace ${n + 1}`, x: x?.[i] ?? null, y: y?.[i] ?? null });
    }
  });
  return { columns, rows, more };
}
