import {
  type BundleSummary,
  type ClusterGroup,
  type ClusterGroupStatus,
  maxListed,
} from "@flotilla/shared/api";
import { findCondition, setConditions } from "@flotilla/shared/conditions";
import { isUrgentChange } from "../../base/index.ts";
import {
  type ConditionState,
  type GroupAggregate,
  selectorProblem,
  summaryReady,
  worstState,
} from "../../rules/index.ts";

export interface ClusterGroupInputs {
  readonly group: ClusterGroup;
  readonly aggregate: GroupAggregate;
  readonly summary: BundleSummary;
  /** RFC 3339. */
  readonly now: string;
}

export function clusterGroupStatus({
  group,
  aggregate,
  summary,
  now,
}: ClusterGroupInputs): ClusterGroupStatus {
  const observedGeneration = group.metadata.generation ?? 0;
  const state = worstState(summary);
  const nonReady = aggregate.unready.size;
  return {
    ...group.status,
    conditions: setConditions(
      group.status?.conditions ?? [],
      [
        { type: "Processed", ...processedState(group), observedGeneration },
        { type: "Ready", ...readyState(aggregate, summary), observedGeneration },
      ],
      now,
    ),
    clusterCount: aggregate.clusters,
    nonReadyClusterCount: nonReady,
    nonReadyClusters: aggregate.unready.first(maxListed).map(nameOf),
    offlineClusterCount: aggregate.offline.size,
    summary,
    resourceCounts: { ...aggregate.resources },
    display: {
      readyClusters: `${aggregate.clusters - nonReady}/${aggregate.clusters}`,
      readyBundles: `${summary.ready}/${summary.desiredReady}`,
      ...(state !== "" && { state }),
    },
  };
}

export function isUrgentClusterGroup(
  before: ClusterGroupStatus | undefined,
  after: ClusterGroupStatus,
): boolean {
  return ["Processed", "Ready"].some((type) =>
    isUrgentChange(findCondition(before?.conditions, type), findCondition(after.conditions, type)),
  );
}

function processedState({ spec }: ClusterGroup): ConditionState {
  const problem = spec.selector ? selectorProblem(spec.selector) : undefined;
  return problem === undefined
    ? { status: "True", reason: "", message: "" }
    : { status: "False", reason: "Error", message: `the selector cannot be used: ${problem}` };
}

function readyState(aggregate: GroupAggregate, summary: BundleSummary): ConditionState {
  const ready = summaryReady(summary, "Cluster");
  if (aggregate.clusters === 0) return { ...ready, message: "no cluster belongs to the group" };
  const offline = aggregate.offline.size;
  if (offline === 0) return ready;
  const names = aggregate.offline.first(maxListed).map(nameOf).join(", ");
  const text = `${offline} of ${aggregate.clusters} clusters have no agent connected: ${names}${offline > maxListed ? ", …" : ""}`;
  return ready.status === "False"
    ? { ...ready, message: `${ready.message}; ${text}` }
    : { status: "Unknown", reason: "Offline", message: text };
}

/** All of them are in the group's own namespace. */
function nameOf(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}
