/** Values for a chart, one set over another. */
import { isRawNumber } from "../json/exact.ts";

export type Values = Readonly<Record<string, unknown>>;

/**
 * Maps are merged, everything else of `over` replaces; a null in `over` stays, Helm reads it as "remove". As Helm merges
 * several values files.
 */
export function mergeValues(base: Values, over: Values): Values {
  // A map of its own, because a name may be `__proto__`.
  const merged = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name);
    merged.set(name, isMap(below) && isMap(value) ? mergeValues(below, value) : value);
  }
  return Object.fromEntries(merged);
}

/** Whether it is a map, and no number that is kept as its digits. */
export function isMap(value: unknown): value is Values {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value)
  );
}
