/** Validation of expressions in CEL, with the compiler that the agents use. Pure. */
import type { BundleDeploymentOptions, BundleSpec } from "@flotilla/shared/api";
import { compileCel, readyVariables } from "@flotilla/shared/cel";
import type { CheckedTexts } from "./checked-texts.ts";

type DependsOn = NonNullable<BundleSpec["dependsOn"]>[number];

/** The first expression that agents could not evaluate; undefined: none. `texts`: the expressions of the same object. */
export function healthCheckProblem(
  { healthCheckExprs }: BundleDeploymentOptions,
  texts: CheckedTexts,
): string | undefined {
  for (const [index, check] of (healthCheckExprs ?? []).entries()) {
    const path = `healthCheckExprs[${index}]`;
    if (!/^([^/]+\/)?[^/]+$/.test(check.apiVersion))
      return `${path}.apiVersion is ${JSON.stringify(check.apiVersion)}; set one such as example.com/v1`;
    for (const field of ["inProgress", "failed", "current"] as const) {
      const source = check[field];
      if (field === "current" && !source)
        return `${path}.current is empty: set the expression that is true when an object is ready`;
      const problem = source ? texts.problemOf(source, healthProblem) : undefined;
      if (problem !== undefined) return `${path}.${field} ${problem}`;
    }
  }
  return undefined;
}

/** The same of dependencies, with its path. */
export function readyExprProblem(
  dependsOn: readonly DependsOn[],
  texts: CheckedTexts,
): string | undefined {
  for (const [index, { readyExpr }] of dependsOn.entries()) {
    const problem = readyExpr ? texts.problemOf(readyExpr, readyProblem) : undefined;
    if (problem !== undefined) return `dependsOn[${index}].readyExpr ${problem}`;
  }
  return undefined;
}

function healthProblem(source: string): string | undefined {
  return problemOf(source);
}

function readyProblem(source: string): string | undefined {
  return problemOf(source, readyVariables);
}

function problemOf(source: string, variables?: readonly string[]): string | undefined {
  const compiled = compileCel(source, variables === undefined ? {} : { variables });
  return compiled.kind === "invalid" ? `is not a valid CEL expression: ${compiled.why}` : undefined;
}
