/** Validation of what does not count as drift, of which the CRD checks little. Pure. */
import type { DriftOptions } from "@flotilla/shared/api";
import { createPatternBudget, type PatternBudget } from "@flotilla/shared/regex";
import { objectSelector, selectorCost } from "@flotilla/shared/selector";
import { driftOptions } from "../content/drift.ts";

/** The limit of one list; lists of real objects have some tens. */
const maxDriftRules = 1_000;

/** The limit of an object with its targets: reading them takes about 20 ms. */
const maxDriftRulesOfObject = 10_000;

/** For the rules of one object and its targets that say what is not drift. */
export interface DriftBudget {
  /** What compiling their targets may take; for real objects it takes less than 1 ms. */
  readonly patterns: PatternBudget;
  rules: number;
}

export function createDriftBudget(): DriftBudget {
  return { patterns: createPatternBudget(50), rules: maxDriftRulesOfObject };
}

/** The sentence for too many rules. The CRDs have no limit, so that no stored object breaks. */
function driftCountProblem(
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

/** The first rule that could not be applied; undefined: none. `budget`: for the whole object, with its targets. */
export function driftOptionsProblem(
  options: DriftOptions,
  budget = createDriftBudget(),
): string | undefined {
  return (
    driftCountProblem(options, budget) ??
    ignoreProblem(options, budget) ??
    comparePatchProblem(options, budget)
  );
}

function ignoreProblem({ driftDetection }: DriftOptions, budget: DriftBudget): string | undefined {
  for (const [index, rule] of (driftDetection?.ignore ?? []).entries()) {
    const problem = rulesProblem({ driftDetection: { ignore: [rule] } }, budget);
    if (problem !== undefined)
      return `driftDetection.ignore[${index}].target cannot be used: ${problem}`;
  }
  return undefined;
}

const operations = ["remove", "add", "replace", "ignore"];

function comparePatchProblem({ diff }: DriftOptions, budget: DriftBudget): string | undefined {
  for (const [index, patch] of (diff?.comparePatches ?? []).entries()) {
    const where = `diff.comparePatches[${index}]`;
    const used = (patch.operations ?? []).filter(({ op, path }) => op || path);
    const unknown = used.find(({ op }) => !operations.includes(op ?? ""));
    if (unknown !== undefined)
      return `${where} has the operation ${JSON.stringify(unknown.op ?? "")}, which is none of ${operations.join(", ")}`;
    const pointers = [
      ...used.flatMap(({ op, path }) => (op === "ignore" ? [] : [path ?? ""])),
      ...(patch.jsonPointers ?? []),
    ];
    const wrong = pointers.find((pointer) => !/^\/([^~]|~[01])*$/.test(pointer));
    if (wrong !== undefined)
      return `${where} has the path ${JSON.stringify(wrong)}, which is not a JSON pointer such as /spec/replicas`;
    const problem = rulesProblem({ diff: { comparePatches: [patch] } }, budget);
    if (problem !== undefined) return `${where} cannot be used: ${problem}`;
  }
  return undefined;
}

function rulesProblem(options: DriftOptions, budget: DriftBudget): string | undefined {
  for (const { target = {} } of driftOptions(options)?.ignore ?? []) {
    if (!budget.patterns.take(selectorCost(target)))
      return "the expressions of all rules take too long together: write fewer or simpler ones";
    const selector = objectSelector(target);
    if (typeof selector === "string") return selector;
  }
  return undefined;
}
