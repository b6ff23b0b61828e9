/** Values that can be changed in place: maps are Maps, because a name may be `__proto__`. */
import { isMap, type Values } from "./merge-values.ts";

export type MutableMap = Map<string, unknown>;

/** A deep copy. */
export function toMutable(values: Values): MutableMap {
  return new Map(Object.entries(values).map(([name, value]) => [name, copied(value)]));
}

export function toValues(data: MutableMap): Values {
  return Object.fromEntries([...data].map(([name, value]) => [name, restored(value)]));
}

function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  return isMap(value) ? toMutable(value) : value;
}

function restored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(restored);
  return value instanceof Map ? toValues(value as MutableMap) : value;
}
