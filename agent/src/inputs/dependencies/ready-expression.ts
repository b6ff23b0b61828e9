/** `readyExpr`: whether a dependency is met, by an expression over this deployment and the other one. Pure. */
import { type Allowance, compileCel, readyVariables } from "@flotilla/shared/cel";
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import type { DeploymentView } from "./deployment-view.ts";

/** Why a dependency is not met; undefined: it is. */
export type CheckReady = (self: DeploymentView, dep: DeploymentView) => string | undefined;

/** For all expressions of one check of a deployment's dependencies, however many these are: about 15 ms. */
const stepsPerCheck = 200_000;

/** The limit of all different expressions of one check, which are compiled for it: about 15 ms. Those that exceed it are not met. */
const compiledCharacters = 16 * 1024;

export interface ReadyChecks {
  /** Throws INVALID_CEL_EXPRESSION. */
  of(source: string): CheckReady;
}

/** For one check of a deployment's dependencies. Nothing is kept for the next one: a compiled expression has 200 KB. */
export function createReadyChecks(): ReadyChecks {
  const allowance: Allowance = { steps: stepsPerCheck };
  const known = new Map<string, CheckReady>();
  let left = compiledCharacters;
  return {
    of(source) {
      const before = known.get(source);
      if (before !== undefined) return before;
      left -= source.length;
      const check = left < 0 ? tooLong : readyCheck(source, allowance);
      known.set(source, check);
      return check;
    },
  };
}

function tooLong(): string {
  return `its readyExpr is not evaluated: all together have more than ${compiledCharacters} characters`;
}

function readyCheck(source: string, allowance: Allowance): CheckReady {
  const compiled = compileCel(source, { variables: readyVariables });
  if (compiled.kind === "invalid")
    throw new AppError(
      agentErrors.INVALID_CEL_EXPRESSION,
      `the readyExpr of a dependency is not a valid CEL expression: ${compiled.why}; nothing is deployed before it is corrected`,
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
