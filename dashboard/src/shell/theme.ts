/** Dark or light: as the user chose, otherwise as their system has it. */

export type Theme = "dark" | "light";

const storageKey = "flotilla-theme";

export function readTheme(): Theme {
  const chosen = localStorage.getItem(storageKey);
  if (chosen === "dark" || chosen === "light") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
}

export function chooseTheme(theme: Theme): void {
  applyTheme(theme);
  localStorage.setItem(storageKey, theme);
}
