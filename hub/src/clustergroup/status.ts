import type { ClusterGroup, ClusterGroupStatus } from "@flotilla/shared/api/cluster-group.ts";
import { type BundleSummary, maxListed } from "@flotilla/shared/api/summary.ts";
import { findCondition, setConditions } from "@flotilla/shared/conditions/condition.ts";
import type { ConditionState } from "../frontend/front-end.ts";
import { isUrgentChange } from "../status/urgency.ts";
import type { GroupAggregate } from "../summary/group-aggregate.ts";
import { summaryReady } from "../summary/ready-condition.ts";
import { worstState } from "../summary/summarize.ts";
import { selectorProblem } from "../targeting/selector-problem.ts";

export interface ClusterGroupInputs {
  readonly group: ClusterGroup;
  readonly tally: GroupAggregate;
  readonly summary: BundleSummary;
  /** RFC 3339. */
  readonly now: string;
}

export function clusterGroupStatus({
  group,
  tally,
  summary,
  now,
}: ClusterGroupInputs): ClusterGroupStatus {
  const observedGeneration = group.metadata.generation ?? 0;
  const state = worstState(summary);
  const nonReady = tally.unready.size;
  return {
    ...group.status,
    conditions: setConditions(
      group.status?.conditions ?? [],
      [
        { type: "Processed", ...processedVerdict(group), observedGeneration },
        { type: "Ready", ...readyVerdict(tally, summary), observedGeneration },
      ],
      now,
    ),
    clusterCount: tally.clusters,
    nonReadyClusterCount: nonReady,
    nonReadyClusters: tally.unready.first(maxListed).map(nameOf),
    offlineClusterCount: tally.offline.size,
    summary,
    resourceCounts: { ...tally.resources },
    display: {
      readyClusters: `${tally.clusters - nonReady}/${tally.clusters}`,
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

function processedVerdict({ spec }: ClusterGroup): ConditionState {
  const problem = spec.selector ? selectorProblem(spec.selector) : undefined;
  return problem === undefined
    ? { status: "True", reason: "", message: "" }
    : { status: "False", reason: "Error", message: `the selector cannot be used: ${problem}` };
}

function readyVerdict(tally: GroupAggregate, summary: BundleSummary): ConditionState {
  const ready = summaryReady(summary, "Cluster");
  if (tally.clusters === 0) return { ...ready, message: "no cluster belongs to the group" };
  const away = tally.offline.size;
  if (away === 0) return ready;
  const names = tally.offline.first(maxListed).map(nameOf).join(", ");
  const text = `${away} of ${tally.clusters} clusters have no agent connected: ${names}${away > maxListed ? ", …" : ""}`;
  return ready.status === "False"
    ? { ...ready, message: `${ready.message}; ${text}` }
    : { status: "Unknown", reason: "Offline", message: text };
}

/** All of them are in the group's own namespace. */
function nameOf(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}
