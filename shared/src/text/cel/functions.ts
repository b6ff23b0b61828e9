/** The functions of expressions: CEL's, and what Flux adds to them, without bytes, unsigned integers and time zones. */
import type { Budget } from "./budget.ts";
import type { CallContext, CelFunction } from "./cel-function.ts";
import { isEqual } from "./compare.ts";
import { conversions } from "./conversions.ts";
import { EvaluationFailure, noOverload } from "./failures.ts";
import { isIn } from "./operators.ts";
import { stringMethods } from "./strings.ts";
import { timeMethods } from "./times.ts";
import { adopt, isList, isMap, kindOf, Optional, sizeOfMap, TypeName } from "./values.ts";

/** `f(x)`. */
export const globalFunctions: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>([
  ["size", unary(sizeOf)],
  ["matches", { minArgs: 2, maxArgs: 2, call: matches }],
  ["type", unary((value) => new TypeName(kindOf(value)))],
  ["dyn", unary((value) => value)],
  ...[...conversions].map(([name, convert]) => [name, unary(convert)] as const),
]);

/** `x.f()`. */
export const methods: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>([
  ["size", { minArgs: 0, maxArgs: 0, call: ([value], { budget }) => sizeOf(value, budget) }],
  ["matches", { minArgs: 1, maxArgs: 1, call: matches }],
  ...stringMethods,
  ...timeMethods,
  ["hasValue", { minArgs: 0, maxArgs: 0, call: ([it]) => optional(it).value !== undefined }],
  ["value", { minArgs: 0, maxArgs: 0, call: ([it]) => valueIn(optional(it)) }],
  [
    "orValue",
    {
      minArgs: 1,
      maxArgs: 1,
      call: ([it, other]) => (optional(it).value === undefined ? other : optional(it).value),
    },
  ],
  [
    "or",
    {
      minArgs: 1,
      maxArgs: 1,
      call: ([it, other]) => (optional(it).value === undefined ? optional(other) : it),
    },
  ],
]);

/** `sets.f(x)`, by their full names. */
export const namespacedFunctions: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>([
  ["sets.contains", sets((a, b, budget) => b.every((each) => isIn(adopt(each), a, budget)))],
  ["sets.intersects", sets((a, b, budget) => b.some((each) => isIn(adopt(each), a, budget)))],
  [
    "sets.equivalent",
    sets(
      (a, b, budget) =>
        b.every((each) => isIn(adopt(each), a, budget)) &&
        a.every((each) => isIn(adopt(each), b, budget)),
    ),
  ],
  ["optional.of", unary((value) => new Optional(value))],
  ["optional.none", { minArgs: 0, maxArgs: 0, call: () => new Optional(undefined) }],
  [
    "optional.ofNonZeroValue",
    unary((value, budget) => new Optional(isZero(value, budget) ? undefined : value)),
  ],
]);

function unary(call: (value: unknown, budget: Budget) => unknown): CelFunction {
  return { minArgs: 1, maxArgs: 1, call: ([value], { budget }) => call(value, budget) };
}

function sets(
  call: (a: readonly unknown[], b: readonly unknown[], budget: Budget) => boolean,
): CelFunction {
  return {
    minArgs: 2,
    maxArgs: 2,
    call([a, b], { budget }) {
      if (isList(a) && isList(b)) return call(a, b, budget);
      throw noOverload("sets", kindOf(a), kindOf(b));
    },
  };
}

function sizeOf(value: unknown, budget: Budget): bigint {
  if (typeof value === "string") {
    budget.charge(Math.ceil(value.length / 8));
    return BigInt([...value].length);
  }
  if (isList(value)) return BigInt(value.length);
  if (!isMap(value)) throw noOverload("size", kindOf(value));
  const size = sizeOfMap(value);
  budget.charge(size);
  return BigInt(size);
}

/** Compiling takes more than matching, see `Patterns.find`. */
const compilingPerStep = 2;
const matchingPerStep = 10;

function matches(args: readonly unknown[], { budget, patterns }: CallContext): boolean {
  const [text, pattern] = args;
  if (typeof text !== "string" || typeof pattern !== "string")
    throw noOverload("matches", kindOf(text), kindOf(pattern));
  const match = patterns.find(pattern, text, {
    compiling: (units) => budget.charge(Math.ceil(units / compilingPerStep)),
    matching: (units) => budget.charge(Math.ceil(units / matchingPerStep)),
  });
  if (match.kind === "unusable")
    throw new EvaluationFailure(`a regular expression cannot be used: ${match.why}`);
  return match.kind === "yes";
}

function optional(value: unknown): Optional {
  if (value instanceof Optional) return value;
  throw noOverload("a method of optional values", kindOf(value));
}

function valueIn({ value }: Optional): unknown {
  if (value === undefined) throw new EvaluationFailure("an optional value is none");
  return value;
}

function isZero(value: unknown, budget: Budget): boolean {
  if (value === null) return true;
  if (typeof value === "string" || isList(value)) return value.length === 0;
  if (isMap(value)) return sizeOfMap(value) === 0;
  return value === false || isEqual(value, 0n, budget);
}
