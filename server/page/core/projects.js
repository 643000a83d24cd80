// The projects that the caller sees, read once and again after a change.

import { signal } from "../vendor/preact.js";
import { everything, user } from "./api.js";

/** @typedef {{ id: string, name: string, description: string | null, can?: string[] }} Project */

export const projects = signal(/** @type {Project[] | null} */ (null));

/** @type {Promise<Project[]> | null} */
let reading = null;

/** @returns {Promise<Project[]>} */
export function readProjects(again = false) {
  if (again) reading = null;
  reading ??= everything("/projects", { order_by: "name", order: "asc" }).then((items) => {
    projects.value = items;
    return items;
  });
  reading.catch(() => { reading = null; });
  return reading;
}

/** Whether the caller may do this in a project. @param {Project | undefined | null} project @param {"read" | "write" | "manage"} what */
export function may(project, what) {
  if (!project) return false;
  return project.can ? project.can.includes(what) : user.value?.organization_role?.name === "Admin";
}

/** @param {"read" | "write" | "manage"} what */
export const mayHere = (what) => Boolean((user.value?.organization_can ?? (user.value?.organization_role?.name === "Admin" ? ["read", "write", "manage"] : [])).includes(what));
