/** Durations as Go writes them, such as `1h30m` and `500ms`, which Kubernetes APIs use. */

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const term = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/** Milliseconds, with a fraction below one; undefined when the text is not a duration. `0` needs no unit. */
export function parseGoDuration(text: string): number | undefined {
  const sign = text.startsWith("-") ? -1 : 1;
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return 0;
  let total = 0;
  let at = 0;
  while (at < unsigned.length) {
    term.lastIndex = at;
    const match = term.exec(unsigned);
    const unit = unitMs[match?.[2] ?? ""];
    if (match === null || unit === undefined) return undefined;
    total += Number(match[1]) * unit;
    at = term.lastIndex;
  }
  return unsigned === "" ? undefined : sign * total;
}

/** In whole seconds, for people: `45s`, `5m`, `1h30m`. */
export function formatGoDuration(durationMs: number): string {
  const seconds = Math.round(durationMs / 1_000);
  if (seconds === 0) return durationMs === 0 ? "0s" : `${Math.round(durationMs)}ms`;
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 3600), "h"],
    [Math.floor((seconds % 3600) / 60), "m"],
    [seconds % 60, "s"],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join("");
}
