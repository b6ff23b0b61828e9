/** What a BundleNamespaceMapping selects, or why it cannot be used. Pure. */
import { type BundleNamespaceMapping, type LabelSelector, selects } from "@flotilla/shared/api";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { selectorProblem } from "../targeting/selector-problem.ts";

type Selectors = Pick<BundleNamespaceMapping, "bundleSelector" | "namespaceSelector">;

/** Why a selector of it cannot be used, with its field; undefined: both can. */
export function mappingProblem({
  bundleSelector,
  namespaceSelector,
}: Selectors): string | undefined {
  return (
    problemOf("bundleSelector", bundleSelector) ?? problemOf("namespaceSelector", namespaceSelector)
  );
}

function problemOf(field: string, selector: LabelSelector | null | undefined): string | undefined {
  const problem = selector ? selectorProblem(selector) : undefined;
  return problem && `${field}: ${problem}`;
}

/** Whether it is for a Bundle of its namespace. Without both selectors it has no effect. */
export function mapsBundle(mapping: Selectors, { metadata }: KubeObject): boolean {
  const { bundleSelector, namespaceSelector } = mapping;
  if (!bundleSelector || !namespaceSelector) return false;
  return mappingProblem(mapping) === undefined && selects(bundleSelector, metadata.labels ?? {});
}

/** Whether it selects a Namespace; undefined: the Namespace does not exist. */
export function mapsNamespace(mapping: Selectors, namespace: KubeObject | undefined): boolean {
  const { bundleSelector, namespaceSelector } = mapping;
  if (!bundleSelector || !namespaceSelector || namespace === undefined) return false;
  return (
    mappingProblem(mapping) === undefined &&
    selects(namespaceSelector, namespace.metadata.labels ?? {})
  );
}
