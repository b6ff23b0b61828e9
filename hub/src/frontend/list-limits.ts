/** Limits of lists that agents go through. The CRDs have none, so that no stored object breaks. Pure. */
import type { DriftOptions } from "@flotilla/shared/api";
import { createPatternBudget, type PatternBudget } from "@flotilla/shared/regex";
import { selectorCost } from "@flotilla/shared/selector";
import { driftOptions } from "../content/index.ts";

/** Users of Fleet and Flux have some tens at most; one with a selector stands for any number of Bundles. */
const maxDependencies = 100;

/** The sentence for a list of dependencies that is too long. */
export function dependencyCountProblem(
  dependsOn: readonly unknown[] | null | undefined,
): string | undefined {
  const count = dependsOn?.length ?? 0;
  return count <= maxDependencies
    ? undefined
    : `spec.dependsOn has ${count} entries, more than the limit of ${maxDependencies}: leave out those that other entries depend on themselves`;
}

/** Of one list; those of real objects are some tens. */
const maxDriftRules = 1_000;

/** Of an object with its targets: reading them takes about 20 ms. */
const maxDriftRulesOfObject = 10_000;

/** For the rules of one object of what is no drift, with those of its targets. */
export interface DriftBudget {
  /** What compiling their targets may take; those of real objects take less than 1 ms. */
  readonly patterns: PatternBudget;
  rules: number;
}

export function createDriftBudget(): DriftBudget {
  return { patterns: createPatternBudget(50), rules: maxDriftRulesOfObject };
}

/** The sentence for too many rules. */
export function driftCountProblem(
  { driftDetection, diff }: DriftOptions,
  budget: DriftBudget,
): string | undefined {
  for (const [field, rules] of [
    ["driftDetection.ignore", driftDetection?.ignore],
    ["diff.comparePatches", diff?.comparePatches],
  ] as const) {
    const count = rules?.length ?? 0;
    if (count > maxDriftRules)
      return `${field} has ${count} entries, more than the limit of ${maxDriftRules}: give one rule several paths, or a target that selects several objects`;
    budget.rules -= count;
    if (budget.rules < 0)
      return `${field} is too long: with all targets there are more than ${maxDriftRulesOfObject} rules; move those that targets share to the spec`;
  }
  return undefined;
}

export const driftCostText =
  "the expressions of all rules take too long together: write fewer or simpler ones";

/** The sentence for rules that agents would not compile in whole. */
export function driftCostProblem(
  options: DriftOptions,
  { patterns }: DriftBudget,
): string | undefined {
  const rules = driftOptions(options)?.ignore ?? [];
  return rules.every(({ target = {} }) => patterns.take(selectorCost(target)))
    ? undefined
    : `driftDetection.ignore cannot be used: ${driftCostText}`;
}
