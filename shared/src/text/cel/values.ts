/**
 * The values of expressions. Variables are JSON: a number of JSON is an integer where it has no fraction, as in Kubernetes.
 * Inside of an evaluation an integer is a bigint and a floating-point number a `Double`, so that `2.0` stays one.
 */
import { EvaluationFailure } from "./failures.ts";

export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export class Timestamp {
  /** Since 1970. */
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }
}

export class Duration {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }
}

export class TypeName {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** What `a.?b` has: a value or none. */
export class Optional {
  readonly value: unknown;

  /** `undefined`: none. */
  constructor(value: unknown) {
    this.value = value;
  }
}

export type Kind =
  | "null_type"
  | "bool"
  | "string"
  | "int"
  | "double"
  | "list"
  | "map"
  | "timestamp"
  | "duration"
  | "type"
  | "optional";

/** A map of the evaluation, or an object of JSON. */
type AnyMap = ReadonlyMap<unknown, unknown> | Readonly<Record<string, unknown>>;

/** A value of JSON as a value of expressions; others stay. */
export function adopt(value: unknown): unknown {
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? BigInt(value) : new Double(value);
  return value === undefined ? null : value;
}

export function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "string":
      return "string";
    case "bigint":
      return "int";
    case "object":
      if (value === null) return "null_type";
      if (Array.isArray(value)) return "list";
      if (value instanceof Double) return "double";
      if (value instanceof Timestamp) return "timestamp";
      if (value instanceof Duration) return "duration";
      if (value instanceof TypeName) return "type";
      if (value instanceof Optional) return "optional";
      return "map";
    default:
      throw new EvaluationFailure(`there are no values of type ${typeof value}`);
  }
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function isMap(value: unknown): value is AnyMap {
  return typeof value === "object" && kindOf(value) === "map";
}

/** Undefined: it has no such key. */
export function entryOf(map: AnyMap, key: unknown): unknown {
  if (map instanceof Map) return map.has(key) ? adopt(map.get(key)) : undefined;
  if (typeof key !== "string" || !Object.hasOwn(map, key)) return undefined;
  return adopt(Reflect.get(map, key));
}

export function keysOf(map: AnyMap): readonly unknown[] {
  return map instanceof Map ? [...map.keys()] : Object.keys(map);
}

export function sizeOfMap(map: AnyMap): number {
  return map instanceof Map ? map.size : Object.keys(map).length;
}

const maxInt = 2n ** 63n - 1n;
const minInt = -(2n ** 63n);

export function isInt64(value: bigint): boolean {
  return value <= maxInt && value >= minInt;
}

export function checkedInt(value: bigint): bigint {
  if (!isInt64(value)) throw new EvaluationFailure("an integer exceeds 64 bits");
  return value;
}

/** The range of timestamps in milliseconds: the years 1 to 9999. */
const firstMs = -62_135_596_800_000;
const lastMs = 253_402_300_799_999;

export function checkedTimestamp(ms: number): Timestamp {
  if (ms >= firstMs && ms <= lastMs) return new Timestamp(ms);
  throw new EvaluationFailure("a timestamp is not in the years 1 to 9999");
}
