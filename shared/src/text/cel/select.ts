/** `a.b`, `a[b]` and their optional forms. */
import { EvaluationFailure, noOverload } from "./failures.ts";
import { adopt, Double, entryOf, isList, isMap, kindOf, Optional } from "./values.ts";

/** For an optional value the result is optional, too. */
export function select(object: unknown, field: string): unknown {
  if (object instanceof Optional) return optionalSelect(object, field);
  if (!isMap(object)) throw noOverload(`.${field}`, kindOf(object));
  const value = entryOf(object, field);
  if (value === undefined) throw new EvaluationFailure(`there is no field ${field}`);
  return value;
}

export function optionalSelect(object: unknown, field: string): Optional {
  const held = object instanceof Optional ? object.value : object;
  if (held === undefined) return new Optional(undefined);
  if (!isMap(held)) throw noOverload(`.${field}`, kindOf(held));
  return new Optional(entryOf(held, field));
}

export function hasField(object: unknown, field: string): boolean {
  return optionalSelect(object, field).value !== undefined;
}

export function index(object: unknown, key: unknown): unknown {
  if (object instanceof Optional) return optionalIndex(object, key);
  const value = found(object, key);
  if (value === undefined)
    throw new EvaluationFailure(
      isList(object) ? `there is no item ${String(key)}` : "there is no such key",
    );
  return value;
}

export function optionalIndex(object: unknown, key: unknown): Optional {
  const held = object instanceof Optional ? object.value : object;
  return new Optional(held === undefined ? undefined : found(held, key));
}

function found(object: unknown, key: unknown): unknown {
  if (isMap(object)) return entryOf(object, key);
  if (!isList(object)) throw noOverload("[]", kindOf(object));
  const position = key instanceof Double ? key.value : key;
  if (typeof position !== "bigint" && !Number.isInteger(position))
    throw noOverload("[] of a list", kindOf(key));
  const at = Number(position);
  return at >= 0 && at < object.length ? adopt(object[at]) : undefined;
}
