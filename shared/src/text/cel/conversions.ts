/** `int(x)`, `string(x)` and the others, and the names of types, which `type(x)` is compared with. */
import { formatTimeMs, parseGoDuration, parseTime } from "../../runtime/time/index.ts";
import { EvaluationFailure, noOverload } from "./failures.ts";
import {
  checkedInt,
  checkedTimestamp,
  Double,
  Duration,
  type Kind,
  kindOf,
  Timestamp,
} from "./values.ts";

export const typeNames: ReadonlySet<string> = new Set<Kind>([
  ...(["bool", "string", "int", "double", "list", "map", "null_type", "type"] as const),
]);

export const conversions: ReadonlyMap<string, (value: unknown) => unknown> = new Map([
  ["int", toInt],
  ["double", toDouble],
  ["string", toText],
  ["bool", toBool],
  ["timestamp", toTimestamp],
  ["duration", toDuration],
]);

function toInt(value: unknown): unknown {
  if (typeof value === "bigint") return value;
  if (value instanceof Timestamp) return BigInt(Math.floor(value.ms / 1_000));
  if (value instanceof Double) {
    if (Number.isFinite(value.value)) return checkedInt(BigInt(Math.trunc(value.value)));
    throw new EvaluationFailure("int() of a number that is not finite");
  }
  if (typeof value !== "string") throw noOverload("int()", kindOf(value));
  if (!/^[+-]?\d{1,19}$/.test(value))
    throw new EvaluationFailure("int(): the text is not an integer");
  return checkedInt(BigInt(value.replace("+", "")));
}

function toDouble(value: unknown): unknown {
  if (value instanceof Double) return value;
  if (typeof value === "bigint") return new Double(Number(value));
  if (typeof value !== "string") throw noOverload("double()", kindOf(value));
  if (value.length > 64 || !/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value))
    throw new EvaluationFailure("double(): the text is not a number");
  return new Double(Number(value));
}

function toText(value: unknown): unknown {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (value instanceof Double) return String(value.value);
  if (value instanceof Timestamp) return formatTimeMs(value.ms).replace(".000Z", "Z");
  if (value instanceof Duration) return `${value.ms / 1_000}s`;
  throw noOverload("string()", kindOf(value));
}

function toBool(value: unknown): unknown {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") throw noOverload("bool()", kindOf(value));
  if (["1", "t", "true", "TRUE", "True"].includes(value)) return true;
  if (["0", "f", "false", "FALSE", "False"].includes(value)) return false;
  throw new EvaluationFailure("bool(): the text is neither true nor false");
}

function toTimestamp(value: unknown): unknown {
  if (value instanceof Timestamp) return value;
  if (typeof value === "bigint") return validTimestamp(Number(value) * 1_000);
  if (typeof value !== "string") throw noOverload("timestamp()", kindOf(value));
  const isTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(value);
  return validTimestamp(isTime ? parseTime(value) : undefined);
}

function validTimestamp(ms: number | undefined): Timestamp {
  if (ms === undefined)
    throw new EvaluationFailure("timestamp(): the text is not a time of RFC 3339");
  return checkedTimestamp(ms);
}

function toDuration(value: unknown): unknown {
  if (value instanceof Duration) return value;
  if (typeof value !== "string") throw noOverload("duration()", kindOf(value));
  const ms = value.length > 64 ? undefined : parseGoDuration(value);
  if (ms === undefined)
    throw new EvaluationFailure("duration(): the text is not a duration such as 1h30m");
  return new Duration(ms);
}
