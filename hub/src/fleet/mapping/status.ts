/** The status of a BundleNamespaceMapping. Pure. */
import {
  type BundleNamespaceMapping,
  type BundleNamespaceMappingStatus,
  maxListed,
} from "@flotilla/shared/api";
import { findCondition, setConditions } from "@flotilla/shared/conditions";
import { listNames } from "@flotilla/shared/text";
import { isUrgentChange } from "../../base/index.ts";
import { type ConditionState, mappingProblem } from "../../rules/index.ts";

export interface MappingInputs {
  readonly mapping: BundleNamespaceMapping;
  /** The other namespaces with Clusters that it selects, by name. */
  readonly namespaces: readonly string[];
  /** The ones among them whose Policies keep its Bundles off their Clusters, by name. */
  readonly refused: readonly string[];
  /** RFC 3339. */
  readonly now: string;
}

export function mappingStatus({
  mapping,
  namespaces,
  refused,
  now,
}: MappingInputs): BundleNamespaceMappingStatus {
  const observedGeneration = mapping.metadata.generation ?? 0;
  const accepted = acceptedState(mapping, namespaces, refused);
  return {
    matchingNamespaces: namespaces.slice(0, maxListed),
    namespaceCount: namespaces.length,
    refusedNamespaces: refused.slice(0, maxListed),
    refusedCount: refused.length,
    conditions: setConditions(
      mapping.status?.conditions ?? [],
      [{ type: "Accepted", ...accepted, observedGeneration }],
      now,
    ),
  };
}

export function isUrgentMapping(
  before: BundleNamespaceMappingStatus | undefined,
  after: BundleNamespaceMappingStatus,
): boolean {
  return isUrgentChange(
    findCondition(before?.conditions, "Accepted"),
    findCondition(after.conditions, "Accepted"),
  );
}

function acceptedState(
  mapping: BundleNamespaceMapping,
  namespaces: readonly string[],
  refused: readonly string[],
): ConditionState {
  const problem = mappingProblem(mapping);
  if (problem !== undefined)
    return {
      status: "False",
      reason: "InvalidSelector",
      message: `${problem}; nothing is deployed to other namespaces by this mapping, and what Bundles of ${mapping.metadata.namespace} have there stays as it is until this is corrected`,
    };
  if (refused.length > 0)
    return {
      status: "False",
      reason: "NamespacesRefused",
      message: `Bundles of ${mapping.metadata.namespace} are not deployed to Clusters of ${listNames(refused)}: allowedBundleNamespaces in a Policy there does not have ${mapping.metadata.namespace}; what is deployed stays as it is until that is changed, or the mapping does not select the namespace`,
    };
  return { status: "True", reason: "Accepted", message: remarkOn(mapping, namespaces) };
}

function remarkOn(
  { bundleSelector, namespaceSelector }: BundleNamespaceMapping,
  namespaces: readonly string[],
): string {
  if (!bundleSelector) return "bundleSelector is absent, so it is for no Bundle";
  if (!namespaceSelector) return "namespaceSelector is absent, so it selects no namespace";
  return namespaces.length === 0
    ? "no other namespace with Clusters matches namespaceSelector"
    : "";
}
