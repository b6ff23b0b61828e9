/** Merges values of charts, as Helm merges several values files. Pure. */
import { isRawNumber } from "../../text/json/index.ts";

/** Values of a chart: the content of a values file. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * Values with `over` merged over `base`: maps are merged deeply, any other value of `over` replaces `base`'s. A null in
 * `over` is kept, because Helm removes the chart's default for it.
 */
export function mergeValues(base: Values, over: Values): Values {
  // A Map, because a name may be `__proto__`.
  const merged = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name);
    merged.set(name, isMap(below) && isMap(value) ? mergeValues(below, value) : value);
  }
  return Object.fromEntries(merged);
}

/** Whether a value is a map; a number that is kept as its digits (json/) is not one. */
export function isMap(value: unknown): value is Values {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value)
  );
}
