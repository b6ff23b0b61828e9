/** Validation of what does not count as drift, of which the CRD checks little. Pure. */
import type { BundleDeploymentOptions } from "@flotilla/shared/api";
import { objectSelector, selectorCost } from "@flotilla/shared/selector";
import { driftOptions } from "../content/index.ts";
import {
  createDriftBudget,
  type DriftBudget,
  driftCostText,
  driftCountProblem,
} from "../frontend/index.ts";

/** The first rule that could not be applied; undefined: none. `budget`: for the whole object, with its targets. */
export function driftOptionsProblem(
  options: BundleDeploymentOptions,
  budget = createDriftBudget(),
): string | undefined {
  return (
    driftCountProblem(options, budget) ??
    ignoreProblem(options, budget) ??
    comparePatchProblem(options, budget)
  );
}

function ignoreProblem(
  { driftDetection }: BundleDeploymentOptions,
  budget: DriftBudget,
): string | undefined {
  for (const [index, rule] of (driftDetection?.ignore ?? []).entries()) {
    const problem = rulesProblem({ driftDetection: { ignore: [rule] } }, budget);
    if (problem !== undefined)
      return `driftDetection.ignore[${index}].target cannot be used: ${problem}`;
  }
  return undefined;
}

const operations = ["remove", "add", "replace", "ignore"];

function comparePatchProblem(
  { diff }: BundleDeploymentOptions,
  budget: DriftBudget,
): string | undefined {
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
      return `${where} has the path ${JSON.stringify(wrong)}, which is no JSON pointer such as /spec/replicas`;
    const problem = rulesProblem({ diff: { comparePatches: [patch] } }, budget);
    if (problem !== undefined) return `${where} cannot be used: ${problem}`;
  }
  return undefined;
}

function rulesProblem(
  options: Parameters<typeof driftOptions>[0],
  budget: DriftBudget,
): string | undefined {
  for (const { target = {} } of driftOptions(options)?.ignore ?? []) {
    if (!budget.patterns.take(selectorCost(target))) return driftCostText;
    const selector = objectSelector(target);
    if (typeof selector === "string") return selector;
  }
  return undefined;
}
