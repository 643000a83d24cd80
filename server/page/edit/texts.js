// A recipe as three texts, and the places of its problems in them.

/** @typedef {"transform" | "plan" | "params"} Part */
/** @typedef {Record<Part, string>} Texts */
/** @typedef {{ loc: (string | number)[], msg: string, type: string, ctx?: any }} Problem */

/** @type {Part[]} */
export const PARTS = ["transform", "plan", "params"];
/** @type {Record<Part, string>} */
export const PART_NAMES = { transform: "Script", plan: "Plan", params: "Params" };

/** @param {any} config @returns {Texts} */
export const textsOf = (config) => ({ transform: config?.transform ?? "", plan: JSON.stringify(config?.plan ?? { steps: {} }, null, 2), params: JSON.stringify(config?.params ?? {}, null, 2) });

/** The recipe of the texts, or the problem of one that is not JSON. @param {Texts} texts @param {any} rest @returns {{ config?: any, problem?: Problem }} */
export function configOf(texts, rest) {
  /** @type {any} */
  const made = { ...rest, transform: texts.transform };
  for (const part of /** @type {const} */ (["plan", "params"])) {
    try {
      made[part] = JSON.parse(texts[part]);
    } catch (error) {
      const at = Number(/position (\d+)/.exec(/** @type {Error} */ (error).message)?.[1] ?? 0);
      return { problem: { loc: ["config", part], msg: `This is not JSON: ${/** @type {Error} */ (error).message}.`, type: "json", ctx: { at } } };
    }
  }
  return { config: made };
}

/** In which of the texts a problem is. @param {Problem} problem @returns {Part} */
export function partOf(problem) {
  const found = problem.loc.find((one) => PARTS.includes(/** @type {Part} */ (one)));
  return /** @type {Part} */ (found ?? "plan");
}

/** The name that the message proposes. @param {Problem} problem */
export const proposed = (problem) => /Did you mean '([^']+)'/.exec(problem.msg)?.[1] ?? null;

/** Where a problem is in its text. @param {Problem} problem @param {string} text @returns {[number, number]} */
export function spanOf(problem, text) {
  if (problem.ctx?.at !== undefined) return [Math.min(problem.ctx.at, text.length), Math.min(problem.ctx.at + 1, text.length)];
  if (problem.ctx?.line) {
    const lines = text.split("\n");
    const line = Math.min(problem.ctx.line, lines.length);
    const from = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    return [from + (lines[line - 1].length - lines[line - 1].trimStart().length), from + lines[line - 1].length];
  }
  const part = partOf(problem);
  if (part === "transform") return [0, 0];
  return located(text, problem.loc.slice(problem.loc.indexOf(part) + 1));
}

/** The number of the line of a place. @param {string} text @param {number} at */
export const lineOf = (text, at) => text.slice(0, at).split("\n").length;

/** Where the value of a path is in a JSON text; of a path that is absent, where its nearest parent is. @param {string} text @param {(string | number)[]} path @returns {[number, number]} */
export function located(text, path) {
  let at = 0;
  /** @type {[number, number]} */
  let best = [0, Math.min(1, text.length)];
  let depth = -1;
  const blanks = () => { while (/\s/.test(text[at] ?? "")) at += 1; };
  const string = () => {
    const from = at;
    for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === "\\") at += 1;
    at += 1;
    try { return JSON.parse(text.slice(from, at)); } catch { return ""; }
  };
  /** @param {number} level how many parts of the path lead here; -1: another branch */
  const value = (level) => {
    blanks();
    const from = at;
    if (text[at] === "{" || text[at] === "[") {
      const object = text[at] === "{";
      at += 1;
      for (let n = 0; at < text.length; n += 1) {
        blanks();
        if (text[at] === "}" || text[at] === "]") break;
        const keyAt = at;
        const key = object ? string() : n;
        const keyEnd = at;
        blanks();
        if (object && text[at] === ":") at += 1;
        const here = level >= 0 && String(path[level]) === String(key);
        if (here && object && level > depth) { depth = level; best = [keyAt, keyEnd]; }
        value(here ? level + 1 : -1);
        blanks();
        if (text[at] === ",") at += 1;
      }
      at += 1;
    } else if (text[at] === '"') string();
    else while (at < text.length && !/[\s,\]}]/.test(text[at])) at += 1;
    if (level === path.length && /["\d\-tfn]/.test(text[from] ?? "")) best = [from, at];
    if (at === from) at += 1;
  };
  value(0);
  return best;
}
