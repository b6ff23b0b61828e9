/** What of an object is neither compared nor corrected. Pure. */
import type { DriftContent } from "@flotilla/shared/content";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { createPatternBudget } from "@flotilla/shared/regex";
import { type ObjectSelector, objectSelector, selectorCost } from "@flotilla/shared/selector";
import { controllerFieldsOf } from "./controller-fields.ts";

export interface IgnoreRule {
  readonly selects: ObjectSelector;
  readonly paths: readonly string[];
}

/** For all rules of a release, and for those that are compared with one object, in ms of processor time. */
const compilingMs = 50;
const selectingMs = 20;

/**
 * The hub has validated them: one that cannot be used selects nothing. One for which there is no time selects every object, because
 * what a user protects is rather not corrected.
 */
export function ignoreRules({ ignore = [] }: Pick<DriftContent, "ignore">): readonly IgnoreRule[] {
  const budget = createPatternBudget(compilingMs);
  return ignore.flatMap(({ target = {}, paths }) => {
    if (!budget.take(selectorCost(target))) return [{ selects: () => true, paths }];
    const selects = objectSelector(target);
    return typeof selects === "string" ? [] : [{ selects, paths }];
  });
}

const skipKey = "helm.toolkit.fluxcd.io/driftDetection";

/** JSON pointers; "" is the whole object. `live`: undefined if there is none. */
export function ignoredPointers(
  rules: readonly IgnoreRule[],
  desired: KubeObject,
  live: KubeObject | undefined,
): readonly string[] {
  const { apiVersion = "", kind = "", metadata } = desired;
  if (isSkipped(desired) || (live !== undefined && isSkipped(live))) return [""];
  const object = { ...metadata, apiVersion, kind };
  const budget = createPatternBudget(selectingMs);
  return [
    ...rules.flatMap(({ selects, paths }) => ((selects(object, budget) ?? true) ? paths : [])),
    ...controllerFieldsOf(desired, live),
  ];
}

/** As in Flux. */
function isSkipped({ metadata }: KubeObject): boolean {
  return [metadata.labels, metadata.annotations].some((texts) => texts?.[skipKey] === "disabled");
}
