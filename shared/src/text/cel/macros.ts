/** The macros: `all`, `exists`, `exists_one`, `filter` and `map` of lists and of the keys of maps; `cel.bind`, `optMap`. */
import { stepsPerFailure } from "./budget.ts";
import { EvaluationFailure, noOverload } from "./failures.ts";
import { type Evaluate, type Scope, withVariable } from "./scope.ts";
import { adopt, isList, isMap, keysOf, kindOf, Optional } from "./values.ts";

/** A macro with its parts compiled. */
export interface MacroParts {
  readonly receiver: Evaluate;
  readonly variable: string;
  /** One, or the filter and the result of `map` with three arguments. */
  readonly bodies: readonly [Evaluate, ...Evaluate[]];
}

type Macro = (parts: MacroParts, scope: Scope) => unknown;

/** By name and number of arguments. */
export const macros: ReadonlyMap<string, Macro> = new Map<string, Macro>([
  ["all/2", (parts, scope) => !someItem(parts, scope, false)],
  ["exists/2", (parts, scope) => someItem(parts, scope, true)],
  ["exists_one/2", (parts, scope) => itemsWhere(parts, scope).length === 1],
  ["existsOne/2", (parts, scope) => itemsWhere(parts, scope).length === 1],
  ["filter/2", (parts, scope) => itemsWhere(parts, scope)],
  ["map/2", mapped],
  ["map/3", mapped],
  ["bind/3", bound],
  ["optMap/2", optionalMapped],
]);

/** Whether the body has a value for an item. As with `||`, that value wins over the errors of others. */
function someItem(parts: MacroParts, scope: Scope, wanted: boolean): boolean {
  const { bodies, variable } = parts;
  const [body] = bodies;
  let failure: EvaluationFailure | undefined;
  for (const item of itemsOf(parts, scope)) {
    try {
      if (condition(body(withVariable(scope, variable, item))) === wanted) return true;
    } catch (thrown) {
      if (!(thrown instanceof EvaluationFailure)) throw thrown;
      scope.budget.charge(stepsPerFailure);
      failure ??= thrown;
    }
  }
  if (failure !== undefined) throw failure;
  return false;
}

function itemsWhere(parts: MacroParts, scope: Scope): readonly unknown[] {
  const { bodies, variable } = parts;
  return itemsOf(parts, scope).filter((item) =>
    condition(bodies[0](withVariable(scope, variable, item))),
  );
}

function mapped(parts: MacroParts, scope: Scope): readonly unknown[] {
  const { bodies, variable } = parts;
  const [first, second] = bodies;
  const items = second === undefined ? itemsOf(parts, scope) : itemsWhere(parts, scope);
  return items.map((item) => (second ?? first)(withVariable(scope, variable, item)));
}

/** `receiver` is the bound value. */
function bound({ receiver, variable, bodies }: MacroParts, scope: Scope): unknown {
  return bodies[0](withVariable(scope, variable, receiver(scope)));
}

function optionalMapped({ receiver, variable, bodies }: MacroParts, scope: Scope): unknown {
  const value = receiver(scope);
  if (!(value instanceof Optional)) throw noOverload("optMap", kindOf(value));
  if (value.value === undefined) return value;
  return new Optional(bodies[0](withVariable(scope, variable, value.value)));
}

function itemsOf({ receiver }: MacroParts, scope: Scope): readonly unknown[] {
  const value = receiver(scope);
  const items = isList(value) ? value : isMap(value) ? keysOf(value) : undefined;
  if (items === undefined) throw noOverload("a macro of lists", kindOf(value));
  scope.budget.charge(items.length);
  return items.map(adopt);
}

export function condition(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new EvaluationFailure(`a condition is a ${kindOf(value)} and not a bool`);
}
