// Light and dark: as the system has it, until the user chooses.

import { effect, signal } from "../vendor/preact.js";

const KEY = "workbench-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** "auto", "light" or "dark". */
export const theme = signal(localStorage.getItem(KEY) ?? "auto");

/** Whether the page is dark now. */
export const isDark = signal(false);

export function followTheme() {
  const set = () => {
    const dark = theme.value === "dark" || (theme.value === "auto" && system.matches);
    isDark.value = dark;
    document.body.dataset.wbTheme = dark ? "dark" : "light";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  };
  effect(() => {
    localStorage.setItem(KEY, theme.value);
    set();
  });
  system.addEventListener("change", set);
}

export function turnTheme() {
  theme.value = isDark.value ? "light" : "dark";
}
