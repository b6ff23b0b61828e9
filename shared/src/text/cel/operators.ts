/** The operators of two operands that are both evaluated, and the operators of one. */
import type { Budget } from "./budget.ts";
import { isEqual, order } from "./compare.ts";
import { EvaluationFailure, noOverload } from "./failures.ts";
import {
  adopt,
  checkedInt,
  checkedTimestamp,
  Double,
  Duration,
  entryOf,
  isList,
  isMap,
  kindOf,
  Timestamp,
} from "./values.ts";

type BinaryOperator = (left: unknown, right: unknown, budget: Budget) => unknown;

export const binaryOperators: ReadonlyMap<string, BinaryOperator> = new Map<string, BinaryOperator>(
  [
    ["==", (a, b, budget) => isEqual(a, b, budget)],
    ["!=", (a, b, budget) => !isEqual(a, b, budget)],
    ["<", (a, b, budget) => order("<", a, b, budget) < 0],
    ["<=", (a, b, budget) => order("<=", a, b, budget) <= 0],
    [">", (a, b, budget) => order(">", a, b, budget) > 0],
    [">=", (a, b, budget) => order(">=", a, b, budget) >= 0],
    ["in", isIn],
    ["+", add],
    ["-", subtract],
    ["*", (a, b) => multiply("*", a, b)],
    ["/", (a, b) => multiply("/", a, b)],
    ["%", (a, b) => multiply("%", a, b)],
  ],
);

export function isIn(value: unknown, collection: unknown, budget: Budget): boolean {
  if (isList(collection)) return collection.some((each) => isEqual(value, adopt(each), budget));
  if (isMap(collection)) return entryOf(collection, value) !== undefined;
  throw noOverload("in", kindOf(value), kindOf(collection));
}

function add(left: unknown, right: unknown, budget: Budget): unknown {
  if (typeof left === "string" && typeof right === "string") {
    budget.chargeText(left.length + right.length);
    return left + right;
  }
  if (isList(left) && isList(right)) {
    budget.charge(left.length + right.length);
    return [...left, ...right];
  }
  if (typeof left === "bigint" && typeof right === "bigint") return checkedInt(left + right);
  if (left instanceof Double && right instanceof Double)
    return new Double(left.value + right.value);
  if (left instanceof Duration && right instanceof Duration)
    return new Duration(left.ms + right.ms);
  if (left instanceof Timestamp && right instanceof Duration)
    return checkedTimestamp(left.ms + right.ms);
  if (left instanceof Duration && right instanceof Timestamp)
    return checkedTimestamp(left.ms + right.ms);
  throw noOverload("+", kindOf(left), kindOf(right));
}

function subtract(left: unknown, right: unknown): unknown {
  if (typeof left === "bigint" && typeof right === "bigint") return checkedInt(left - right);
  if (left instanceof Double && right instanceof Double)
    return new Double(left.value - right.value);
  if (left instanceof Timestamp && right instanceof Timestamp)
    return new Duration(left.ms - right.ms);
  if (left instanceof Timestamp && right instanceof Duration)
    return checkedTimestamp(left.ms - right.ms);
  if (left instanceof Duration && right instanceof Duration)
    return new Duration(left.ms - right.ms);
  throw noOverload("-", kindOf(left), kindOf(right));
}

function multiply(operator: "*" | "/" | "%", left: unknown, right: unknown): unknown {
  if (typeof left === "bigint" && typeof right === "bigint") {
    if (operator === "*") return checkedInt(left * right);
    if (right === 0n) throw new EvaluationFailure("division by zero");
    return checkedInt(operator === "/" ? left / right : left % right);
  }
  if (operator !== "%" && left instanceof Double && right instanceof Double)
    return new Double(operator === "*" ? left.value * right.value : left.value / right.value);
  throw noOverload(operator, kindOf(left), kindOf(right));
}

export function not(value: unknown): boolean {
  if (typeof value === "boolean") return !value;
  throw noOverload("!", kindOf(value));
}

export function negate(value: unknown): unknown {
  if (typeof value === "bigint") return checkedInt(-value);
  if (value instanceof Double) return new Double(-value.value);
  throw noOverload("-", kindOf(value));
}
