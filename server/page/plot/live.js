// A live plot: its values, what the server drew for them, and what is wrong. It knows nothing of elements.

import { computed, effect, signal } from "../vendor/preact.js";
import { get, isAbort, part, post, query } from "../core/api.js";
import { asOf, same } from "../core/router.js";
import { duration, points } from "../core/words.js";
import { drawable, warmUp } from "./library.js";

const SHOW_PROGRESS_MS = 250;
const QUICK_MS = 40;

/** @typedef {{ name: string, widget: string, kind: "data" | "view", label: string, description: string, value: any, multiple: boolean, nullable: boolean, debounce_ms: number, options?: { value: any, label: string, available: boolean }[], disabled?: boolean, note?: string | null, placeholder?: string, rows?: number, all_none?: boolean, integer?: boolean, min?: number | null, max?: number | null, step?: number, format?: string }} Control */
/** @typedef {{ figure: any, values: Record<string, any>, controls: Control[], content: string, warnings: { code: string, message: string }[], hints?: string[], log: string, traces: { detail: string, shown: number, of?: number, why?: string }[], cache: any, reads: any, timings: Record<string, number> }} Answer */
/** `saved` is there for the newest revision of a saved plot: its record. @typedef {{ figure: (values: Record<string, any>, stop: AbortSignal) => Promise<Answer>, detail: (asked: any, values: Record<string, any>, stop?: AbortSignal) => Promise<{ traces: Record<string, any> }>, saved?: () => Promise<any> }} Source */

/** Where the figures of a saved plot come from. @param {string} project @param {string} board @param {string} plot @param {number | null} [revision] @returns {Source} */
export function savedPlot(project, board, plot, revision = null) {
  const at = `${plotPath(project, board, plot)}/figure`;
  const pinned = revision ? { revision } : {};
  const then = () => query({ as_of: asOf() });
  return {
    figure: (values, stop) => post(at + then(), { values, ...pinned }, { signal: stop }),
    detail: (asked, values, stop) => post(`${at}/detail${then()}`, { ...asked, values, ...pinned }, { signal: stop }),
    saved: revision ? undefined : () => get(plotPath(project, board, plot)),
  };
}

/** Where the figures of a recipe come from that is not saved. @param {string} project @param {() => any} config @returns {Source} */
export function draft(project, config) {
  const at = `/projects/${part(project)}/figures`;
  return {
    figure: (values, stop) => post(at, { config: config(), values }, { signal: stop }),
    detail: (asked, values, stop) => post(`${at}/detail`, { config: config(), values, ...asked }, { signal: stop }),
  };
}

/** @param {string} project @param {string} board @param {string} plot */
export const plotPath = (project, board, plot) => `/projects/${part(project)}/dashboards/${part(board)}/plots/${part(plot)}`;

export class LivePlot {
  /**
   * `onRevised` is called where somebody else changed or deleted the plot of this `revision`.
   * @param {{ id: string, name: string, source: Source, defaults?: Record<string, any>, chosen?: Record<string, any>, onChosen?: (plot: LivePlot, how: { replace: boolean }) => void, revision?: number, onRevised?: () => void }} given
   */
  constructor({ id, name, source, defaults = {}, chosen = {}, onChosen, revision, onRevised }) {
    this.revision = revision;
    this.onRevised = onRevised;
    this.id = id;
    this.name = name;
    this.source = source;
    this.defaults = defaults;
    this.onChosen = onChosen;
    /** The values that differ from the defaults. */
    this.chosen = signal({ ...chosen });
    this.answer = signal(/** @type {Answer | null} */ (null));
    /** The figure as this page can draw it; `number` rises with each. */
    this.shown = signal(/** @type {any} */ (null));
    this.busy = signal(/** @type {{ text: string, share: number | null } | null} */ (null));
    this.error = signal(/** @type {any} */ (null));
    this.stale = signal(false);
    this.drawnAt = signal(/** @type {Date | null} */ (null));
    this.took = signal(0);
    /** How many samples the zoomed part shows, in words. */
    this.closer = signal("");
    this.notes = computed(() => this._notes());
    /** The controls with the newest values, also those that are not drawn yet. */
    this.controls = computed(() => (this.answer.value?.controls ?? []).map((one) =>
      (one.name in this.chosen.value ? this._chosen(one) : this._waiting.has(one.name) ? { ...one, value: this.defaults[one.name] } : one)));
    /** @type {Set<string>} values that went back to the default and are not drawn yet */
    this._waiting = new Set();
    /** @type {Record<string, any>} the choices that the answer was asked with */
    this._asked = {};
    this._number = 0;
    this._started = false;
  }

  /** A control with its choice. Where that is not to be had any more, the server drew another value: then that one. @param {Control} control */
  _chosen(control) {
    const given = this.chosen.value[control.name];
    const left = Array.isArray(given) && Array.isArray(control.value) && control.value.every((one) => given.some((other) => same(one, other)));
    return same(given, this._asked[control.name]) && !left ? control : { ...control, value: given };
  }

  start() {
    if (this._started) return;
    this._started = true;
    this.draw();
  }

  /** Draw it unless that was done, and wait until it is drawn or refused. @returns {Promise<void>} */
  ready() {
    this.start();
    return new Promise((go) => {
      const off = effect(() => { if (this.error.value || (this.answer.value && !this.busy.value)) { queueMicrotask(() => off()); go(); } });
    });
  }

  close() {
    this._stop?.abort();
    clearTimeout(this._timer);
  }

  /** Choose a value. With `moving` the user has not let go yet. @param {string} name @param {any} value @param {{ moving?: boolean, wait?: number }} [how] */
  choose(name, value, how = {}) {
    const chosen = { ...this.chosen.value };
    if (name in this.defaults && same(value, this.defaults[name])) {
      delete chosen[name];
      this._waiting.add(name);
    } else chosen[name] = value;
    this.chosen.value = chosen;
    if (!how.moving) this.onChosen?.(this, { replace: false });
    if (this._started) this._later(Math.max(how.wait ?? 0, how.moving ? QUICK_MS : 0));
  }

  /** Take values from the address. @param {Record<string, any>} chosen */
  take(chosen) {
    if (same(chosen, this.chosen.value)) return;
    for (const name of Object.keys(this.chosen.value)) if (!(name in chosen)) this._waiting.add(name);
    this.chosen.value = { ...chosen };
    if (this._started) this._later(0);
  }

  reset() {
    this.take({});
    this.onChosen?.(this, { replace: false });
  }

  /** @param {number} wait */
  _later(wait) {
    clearTimeout(this._timer);
    this._timer = setTimeout(() => this.draw(), wait);
  }

  async draw() {
    this._started = true;
    clearTimeout(this._timer);
    this._stop?.abort();
    const stop = (this._stop = new AbortController());
    const begun = performance.now();
    const patience = setTimeout(() => { this.busy.value = { text: "Drawing …", share: null }; }, SHOW_PROGRESS_MS);
    try {
      const chosen = this.chosen.value;
      const asked = this.source.figure(chosen, stop.signal);
      warmUp(); // it keeps the page busy: better while the server draws
      const answer = await asked;
      if (stop.signal.aborted) return;
      this._asked = chosen;
      this._waiting.clear();
      const { figure, notes } = drawable(answer.figure);
      this._drawnAs = notes;
      this.answer.value = answer;
      this.shown.value = { ...figure, number: ++this._number, keep: this._keep(answer) };
      this.error.value = null;
      this.stale.value = false;
      this.closer.value = "";
      this.drawnAt.value = new Date();
      this.took.value = (performance.now() - begun) / 1000;
    } catch (error) {
      if (isAbort(error) || stop.signal.aborted) return;
      this.error.value = error;
    } finally {
      clearTimeout(patience);
      if (this._stop === stop) this.busy.value = null;
    }
  }

  /** Draw it with the newest data. A recipe that somebody else saved has other controls: then the whole page is read again. */
  async renew() {
    const now = this.onRevised && await this.source.saved?.().catch((error) => (error.status === 404 ? {} : null));
    if (now && now.revision !== this.revision) this.onRevised?.();
    else this.draw();
  }

  stop() {
    this._stop?.abort();
    this.busy.value = null;
  }

  /** Zoom is kept while this is the same text: another choice of data ends it. @param {Answer} answer */
  _keep(answer) {
    const data = answer.controls.filter((one) => one.kind === "data").map((one) => [one.name, answer.values[one.name]]);
    return `${this.id} ${JSON.stringify(data)}`;
  }

  /** Finer samples for what is zoomed. @param {{ traces: number[], x: any[], y: any[], width: number }[]} subplots @returns {Promise<Record<string, any> | null>} */
  async detail(subplots) {
    const traces = this.answer.value?.traces ?? [];
    const number = this._number;
    const asked = subplots
      .map((one) => ({ ...one, traces: one.traces.filter((n) => traces[n]?.detail === "finer") }))
      .filter((one) => one.traces.length);
    if (!asked.length) {
      this.closer.value = "";
      return subplots.length ? null : {};
    }
    const found = await Promise.all(asked.map((one) => this.source.detail({ ...one, width: Math.max(1, one.width) }, this.chosen.value, this._stop?.signal)));
    if (number !== this._number) return null;
    const all = Object.assign({}, ...found.map((one) => one.traces));
    const sums = Object.values(all).reduce((sum, one) => [sum[0] + one.shown, sum[1] + one.of], [0, 0]);
    this.closer.value = sums[1] ? `in view: ${points(sums[0], sums[1], Object.keys(all).length)}` : "";
    return Object.fromEntries(Object.entries(all).map(([n, { shown, of, ...arrays }]) => [n, arrays]));
  }

  /** @returns {{ text: string, hint: boolean }[]} */
  _notes() {
    const answer = this.answer.value;
    if (!answer) return [];
    return [
      ...answer.warnings.map((one) => ({ text: one.message, hint: false })),
      ...(this._drawnAs ?? []).map((text) => ({ text, hint: false })),
      ...(answer.hints ?? []).map((one) => ({ text: typeof one === "string" ? one : /** @type {any} */ (one).message, hint: true })),
    ];
  }

  /** How many points are shown. */
  get samples() {
    const traced = (this.answer.value?.traces ?? []).filter((one) => one.of !== undefined);
    const shown = traced.reduce((sum, one) => sum + one.shown, 0);
    const of = traced.reduce((sum, one) => sum + (one.of ?? 0), 0);
    return of ? { shown, of, traces: traced.length, finer: traced.some((one) => one.detail === "finer") } : null;
  }

  /** What the newest figure cost the server, in words; `detail` also has how long one waited for it. */
  get cost() {
    const { cache = {}, timings = {} } = this.answer.value ?? {};
    const spent = (/** @type {string[]} */ ...names) => names.reduce((sum, name) => sum + (timings[name] ?? 0), 0) / 1000;
    const waited = `The answer came after ${duration(this.took.value)}.`;
    if (cache.figure === "hit") return { text: "nothing to compute", detail: `The server had computed this figure before. ${waited}` };
    const [read, drew] = [spent("check", "steps", "choices"), spent("draw")];
    const parts = cache.dataset === "hit" ? "The data had been read before" : `Reading the data took ${duration(read)}`;
    return { text: `computed in ${duration(read + drew)}`, detail: `${parts}, the script ${duration(drew)}. ${waited}` };
  }

  /** The problem of a value, by the name of its param. */
  get refused() {
    const detail = Array.isArray(this.error.value?.detail) ? this.error.value.detail : [];
    /** @type {Record<string, string>} */
    const made = {};
    for (const one of detail) if (one.loc?.[0] === "values" && one.loc.length > 1) made[String(one.loc[1])] = one.msg;
    return made;
  }
}

/** How many controls a plot has that can be seen. @param {LivePlot} live */
export const controlCount = (live) => live.controls.value.filter((one) => one.widget !== "hidden").length;

/** Which figures of a project are not of the newest data. @param {string} project @param {LivePlot[]} plots */
export async function lookForNewData(project, plots) {
  const drawn = plots.filter((one) => one.answer.value?.content && !one.stale.value);
  if (!drawn.length || asOf()) return;
  const asked = drawn.map((one) => ({ id: one.id, revision: one.revision, content: one.answer.value?.content, values: one.chosen.value }));
  const { stale } = await get(`/projects/${part(project)}/figures/current`, { method: "POST", body: { plots: asked }, quiet: true });
  const ids = new Set(stale);
  for (const one of drawn) if (ids.has(one.id)) one.stale.value = true;
}
