/** Validation of expressions in CEL, with the compiler that the agents use. Pure. */
import type { BundleDeploymentOptions, BundleSpec } from "@flotilla/shared/api";
import { compileCel, readyVariables } from "@flotilla/shared/cel";

type DependsOn = NonNullable<BundleSpec["dependsOn"]>[number];

/** Characters of all expressions of a kind that are compiled here, in about 15 ms; the agents compile all of them. */
const compiledCharacters = 16 * 1024;

/** The first expression that agents could not evaluate; undefined: none. */
export function healthCheckProblem({
  healthCheckExprs,
}: BundleDeploymentOptions): string | undefined {
  let characters = 0;
  for (const [index, check] of (healthCheckExprs ?? []).entries()) {
    const path = `healthCheckExprs[${index}]`;
    if (!/^([^/]+\/)?[^/]+$/.test(check.apiVersion))
      return `${path}.apiVersion is ${JSON.stringify(check.apiVersion)}; set one such as example.com/v1`;
    for (const field of ["inProgress", "failed", "current"] as const) {
      const source = check[field];
      if (field === "current" && !source)
        return `${path}.current is empty: set the expression that is true when an object is ready`;
      characters += source?.length ?? 0;
      const problem = source && characters <= compiledCharacters ? problemOf(source) : undefined;
      if (problem !== undefined) return `${path}.${field} ${problem}`;
    }
  }
  return undefined;
}

/** The same of dependencies, with its path. */
export function readyExprProblem(dependsOn: readonly DependsOn[]): string | undefined {
  let characters = 0;
  for (const [index, { readyExpr }] of dependsOn.entries()) {
    characters += readyExpr?.length ?? 0;
    if (characters > compiledCharacters) return undefined;
    const problem = readyExpr ? problemOf(readyExpr, readyVariables) : undefined;
    if (problem !== undefined) return `dependsOn[${index}].readyExpr ${problem}`;
  }
  return undefined;
}

function problemOf(source: string, variables?: readonly string[]): string | undefined {
  const compiled = compileCel(source, variables === undefined ? {} : { variables });
  return compiled.kind === "invalid" ? `is no valid CEL expression: ${compiled.why}` : undefined;
}
