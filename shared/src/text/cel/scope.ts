/** What a compiled node is evaluated with. */
import type { Budget } from "./budget.ts";
import { adopt } from "./values.ts";

export interface Scope {
  readonly budget: Budget;
  /** The value of a variable; undefined: there is none. */
  readonly lookup: (name: string) => unknown;
}

/** A compiled node. */
export type Evaluate = (scope: Scope) => unknown;

export function rootScope(budget: Budget, variables: Readonly<Record<string, unknown>>): Scope {
  return {
    budget,
    lookup: (name) => (Object.hasOwn(variables, name) ? adopt(variables[name]) : undefined),
  };
}

/** With the variable of a macro. */
export function withVariable(scope: Scope, name: string, value: unknown): Scope {
  return {
    budget: scope.budget,
    lookup(wanted) {
      if (wanted === name) return value;
      scope.budget.charge(1);
      return scope.lookup(wanted);
    },
  };
}
