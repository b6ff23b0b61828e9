/** The colours of the theme for what is drawn on a canvas. */
import type { Tone } from "../state/index.ts";

export interface Palette {
  readonly tones: Readonly<Record<Tone, string>>;
  /** Where nothing is. */
  readonly none: string;
  readonly surface: string;
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
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
