/** Equality and order. Numbers compare across types, as in Kubernetes and Flux. */
import type { Budget } from "./budget.ts";
import { noOverload } from "./failures.ts";
import {
  adopt,
  Double,
  Duration,
  entryOf,
  isList,
  isMap,
  keysOf,
  kindOf,
  Optional,
  sizeOfMap,
  Timestamp,
  TypeName,
} from "./values.ts";

/** Values of different types are not equal. */
export function isEqual(left: unknown, right: unknown, budget: Budget): boolean {
  budget.charge(1);
  if (typeof left === "string") {
    if (typeof right === "string") budget.chargeText(Math.min(left.length, right.length));
    return left === right;
  }
  const [a, b] = [numberOf(left), numberOf(right)];
  // Where one is a bigint and the other a number, it compares the mathematical values.
  // biome-ignore lint/suspicious/noDoubleEquals: === is false for values of different types.
  if (a !== undefined && b !== undefined) return a == b;
  if (isList(left))
    return (
      isList(right) &&
      left.length === right.length &&
      left.every((each, index) => isEqual(adopt(each), adopt(right[index]), budget))
    );
  if (isMap(left)) {
    if (!isMap(right) || sizeOfMap(left) !== sizeOfMap(right)) return false;
    return keysOf(left).every((key) => {
      const other = entryOf(right, key);
      return other !== undefined && isEqual(entryOf(left, key), other, budget);
    });
  }
  if (left instanceof Timestamp) return right instanceof Timestamp && left.ms === right.ms;
  if (left instanceof Duration) return right instanceof Duration && left.ms === right.ms;
  if (left instanceof TypeName) return right instanceof TypeName && left.name === right.name;
  if (left instanceof Optional && right instanceof Optional)
    return left.value === undefined || right.value === undefined
      ? left.value === right.value
      : isEqual(left.value, right.value, budget);
  return left === right;
}

/** Less than 0: `left` comes first. NaN is in no order. */
export function order(operator: string, left: unknown, right: unknown, budget: Budget): number {
  const [a, b] = [orderedOf(left), orderedOf(right)];
  if (typeof a === "string" && typeof b === "string") {
    budget.chargeText(Math.min(a.length, b.length));
    return a < b ? -1 : Number(a > b);
  }
  const comparable = kindOf(left) === kindOf(right) || (isNumber(left) && isNumber(right));
  if (!comparable || a === undefined || b === undefined)
    throw noOverload(operator, kindOf(left), kindOf(right));
  if (a < b) return -1;
  if (a > b) return 1;
  // biome-ignore lint/suspicious/noDoubleEquals: === is false for values of different types.
  return a == b ? 0 : Number.NaN;
}

function isNumber(value: unknown): boolean {
  return numberOf(value) !== undefined;
}

function numberOf(value: unknown): bigint | number | undefined {
  if (typeof value === "bigint") return value;
  return value instanceof Double ? value.value : undefined;
}

function orderedOf(value: unknown): bigint | number | string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return Number(value);
  if (value instanceof Timestamp || value instanceof Duration) return value.ms;
  return numberOf(value);
}
