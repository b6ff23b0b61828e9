/** Figures, each beside its baseline and its bar. Pure. */

export interface Figure {
  readonly what: string;
  readonly unit:
    | "ms"
    | "MB"
    | "writes"
    | "bytes"
    | "requests"
    | "requests/min"
    | "KiB"
    | "%"
    | "agents"
    | "errors"
    | "objects"
    | "x";
  readonly value: number;
  readonly baseline?: { readonly what: string; readonly value: number };
  /** The most that is allowed, in the same unit. */
  readonly bar?: number;
  /** What the figure is made of, for a person. */
  readonly detail?: string;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function isMet({ value, bar }: Figure): boolean {
  return bar === undefined || value <= bar;
}

/** One line for each figure. */
export function formatFigures(figures: readonly Figure[]): string {
  return figures
    .map((figure) => {
      const { what, unit, value, baseline, bar, detail } = figure;
      const beside =
        baseline === undefined ? "" : `  (${baseline.what}: ${round(baseline.value)} ${unit})`;
      const allowed =
        bar === undefined ? "" : `  bar ${round(bar)} ${isMet(figure) ? "met" : "MISSED"}`;
      return `${what}: ${round(value)} ${unit}${beside}${allowed}${detail === undefined ? "" : `\n    ${detail}`}`;
    })
    .join("\n");
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
