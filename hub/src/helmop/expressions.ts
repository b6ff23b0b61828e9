/** Validation of expressions in CEL, with the compiler that the agents use. Pure. */
import type { BundleDeploymentOptions, BundleSpec } from "@flotilla/shared/api";
import { compileCel, readyVariables } from "@flotilla/shared/cel";

type DependsOn = NonNullable<BundleSpec["dependsOn"]>[number];

/** The first expression that agents could not evaluate; undefined: none. */
export function healthCheckProblem({
  healthCheckExprs,
}: BundleDeploymentOptions): string | undefined {
  for (const [index, check] of (healthCheckExprs ?? []).entries()) {
    const path = `healthCheckExprs[${index}]`;
    if (!/^([^/]+\/)?[^/]+$/.test(check.apiVersion))
      return `${path}.apiVersion is ${JSON.stringify(check.apiVersion)}; set one such as example.com/v1`;
    for (const field of ["inProgress", "failed", "current"] as const) {
      const source = check[field];
      if (field === "current" && !source)
        return `${path}.current is empty: set the expression that is true when an object is ready`;
      const problem = source ? problemOf(source) : undefined;
      if (problem !== undefined) return `${path}.${field} ${problem}`;
    }
  }
  return undefined;
}

export function readyExprProblem({ readyExpr }: DependsOn): string | undefined {
  const problem = readyExpr ? problemOf(readyExpr, readyVariables) : undefined;
  return problem === undefined ? undefined : `readyExpr ${problem}`;
}

function problemOf(source: string, variables?: readonly string[]): string | undefined {
  const compiled = compileCel(source, variables === undefined ? {} : { variables });
  return compiled.kind === "invalid" ? `is no valid CEL expression: ${compiled.why}` : undefined;
}
