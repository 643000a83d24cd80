// Numbers, times and sizes as people read them.

/** @param {number} number */
export function count(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1).replace(/\.0$/, "")} M`;
  return grouped(String(number));
}

/** Digits in groups of three. @param {string} digits */
const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");

/** @param {number} number @param {string} noun */
export const many = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** How many of the points of so many traces are shown: a sample is a point of each trace that it is in. @param {number} shown @param {number} of @param {number} traces */
export const points = (shown, of, traces) => `${shown === of ? "all" : `${count(shown)} of`} ${many(of, "point")}${traces > 1 ? ` of ${traces} traces` : ""}`;

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds >= 10) return `${Math.round(seconds)} s`;
  return seconds >= 1 ? `${seconds.toFixed(1)} s` : `${Math.max(Math.round(seconds * 1000), 1)} ms`;
}

/** @param {string | Date} when */
export const clock = (when) => new Date(when).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

/** A moment in the time zone of the browser, with its name; without it in a table, where the heading says it. @param {string | null | undefined} when @param {boolean} [bare] */
export function day(when, bare) {
  if (!when) return "";
  return new Date(when).toLocaleString([], { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: bare ? undefined : "short" });
}

const STEPS = /** @type {const} */ ([[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [604800, "day", 86400], [2629800, "week", 604800], [31557600, "month", 2629800], [Infinity, "year", 31557600]]);

/** How long ago. @param {string | null | undefined} when */
export function ago(when) {
  if (!when) return "";
  const seconds = (Date.now() - Date.parse(when)) / 1000;
  if (seconds < 45) return "just now";
  const step = STEPS.find(([most]) => seconds < most) ?? STEPS[6];
  return `${many(Math.max(1, Math.round(seconds / step[2])), step[1])} ago`;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

/** A cell of a table. @param {any} value */
export function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isInteger(value) ? grouped(String(value)) : Math.abs(value) < 1e5 ? String(Number(value.toPrecision(6))) : grouped(value.toFixed(1));
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Who, by the name before the at. @param {string | null | undefined} email */
export const who = (email) => (email ? email.split("@")[0] : "somebody");

/** The letters of a person's round sign. @param {string} name */
export const initials = (name) => name.split(/[\s.@_-]+/).filter(Boolean).slice(0, 2).map((word) => [...word][0].toUpperCase()).join("");
