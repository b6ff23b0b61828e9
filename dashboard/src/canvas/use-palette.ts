/** The colours of the theme for what is drawn on a canvas. */
import { useMemo, useSyncExternalStore } from "react";
import type { Tone } from "../state/index.ts";

export interface Palette {
  readonly tones: Readonly<Record<Tone, string>>;
  /** Where nothing is. */
  readonly none: string;
  readonly surface: string;
}

/** Another one when the user chooses another theme. */
export function usePalette(): Palette {
  const theme = useSyncExternalStore(onThemeChange, shownTheme);
  return useMemo(() => readPalette(theme), [theme]);
}

function onThemeChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

function shownTheme(): string {
  return document.documentElement.dataset["theme"] ?? "";
}

/** `theme`: the one that is shown; the colours of another one are not there. */
function readPalette(theme: string): Palette {
  const root = document.querySelector(`[data-theme="${theme}"]`) ?? document.documentElement;
  const style = getComputedStyle(root);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    tones: {
      bad: colour("bad"),
      warn: colour("warn"),
      busy: colour("busy"),
      off: colour("off"),
      good: colour("good"),
    },
    none: colour("cell-none"),
    surface: colour("surface"),
  };
}
