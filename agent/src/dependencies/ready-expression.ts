/** `readyExpr`: whether a dependency is met, by an expression over this deployment and the other one. Pure. */
import { createLruCache } from "@flotilla/shared/cache";
import { type Allowance, compileCel, readyVariables } from "@flotilla/shared/cel";
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../errors/index.ts";
import type { DeploymentView } from "./deployment-view.ts";

/** Why a dependency is not met; undefined: it is. */
export type CheckReady = (self: DeploymentView, dep: DeploymentView) => string | undefined;

/** Of all expressions of one check of a deployment's dependencies, however many these are: about 15 ms. */
export const stepsPerCheck = 200_000;

type Compiled = ReturnType<typeof compileCel>;

/** They are checked at each change of a dependency, and compiling takes longer than evaluating. */
const known = createLruCache<Compiled>(1_024);

function compile(source: string): Compiled {
  const before = known.get(source);
  if (before !== undefined) return before;
  const compiled = compileCel(source, { variables: readyVariables });
  known.set(source, compiled);
  return compiled;
}

/** Throws INVALID_CEL_EXPRESSION. */
export function readyCheck(source: string, allowance: Allowance): CheckReady {
  const compiled = compile(source);
  if (compiled.kind === "invalid")
    throw new AppError(
      agentErrors.INVALID_CEL_EXPRESSION,
      `the readyExpr of a dependency is no valid CEL expression: ${compiled.why}; nothing is deployed before it is corrected`,
    );
  return (self, dep) => {
    const evaluated = compiled.expression.evaluate({ self, dep }, allowance);
    switch (evaluated.kind) {
      case "value":
        return evaluated.value ? undefined : "its readyExpr is not true";
      case "failed":
        return `its readyExpr cannot be evaluated: ${evaluated.why}`;
      case "deferred":
        return `its readyExpr is not evaluated: all together need more than ${stepsPerCheck} steps`;
    }
  };
}
