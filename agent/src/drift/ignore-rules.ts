/** What of an object is neither compared nor corrected. Pure. */
import type { DriftContent } from "@flotilla/shared/content";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { type ObjectSelector, objectSelector } from "@flotilla/shared/selector";
import { controllerFieldsOf } from "./controller-fields.ts";

export interface IgnoreRule {
  readonly selects: ObjectSelector;
  readonly paths: readonly string[];
}

/** The hub has validated them: one that cannot be used selects nothing. */
export function ignoreRules({ ignore = [] }: Pick<DriftContent, "ignore">): readonly IgnoreRule[] {
  return ignore.flatMap(({ target = {}, paths }) => {
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
  return [
    ...rules.flatMap(({ selects, paths }) => (selects(object) ? paths : [])),
    ...controllerFieldsOf(desired, live),
  ];
}

/** As in Flux. */
function isSkipped({ metadata }: KubeObject): boolean {
  return [metadata.labels, metadata.annotations].some((texts) => texts?.[skipKey] === "disabled");
}
