// Files out of the page, of a plot and of a dashboard.

import { ask } from "../core/api.js";
import { hand, say, sayError } from "../ui/parts.js";

/** @param {Response} answer @param {string} otherwise */
function nameOf(answer, otherwise) {
  const said = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(answer.headers.get("content-disposition") ?? "")?.[1];
  const name = said && said !== "data.csv" && said !== "data.parquet" ? safely(said) : otherwise;
  return name.replace(/[\\/:*?"<>|\u0000-\u001f\u202a-\u202e\u2066-\u2069]/g, "_").slice(0, 120);
}

/** @param {string} text */
function safely(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A file of the server, saved by the browser: a link could not carry the session. @param {string} address @param {string} name */
export async function download(address, name) {
  const made = say(`Making ${name} …`, { stay: true });
  try {
    const answer = await ask(address);
    hand(await answer.blob(), nameOf(answer, name));
  } catch (error) {
    sayError(error);
  } finally {
    made();
  }
}

/** A file name from a plot's name. @param {string} name */
export const fileName = (name) => `${name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "plot"}-${new Date().toISOString().slice(0, 10)}`;
