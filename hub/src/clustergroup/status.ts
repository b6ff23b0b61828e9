/** The status of a ClusterGroup, from the clusters that belong to it. Pure. */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup, ClusterGroupStatus } from "@flotilla/shared/api/cluster-group.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import { type BundleSummary, bundleStates, maxListed } from "@flotilla/shared/api/summary.ts";
import { findCondition, setConditions } from "@flotilla/shared/conditions/condition.ts";
import { presenceOf } from "../clusterstate/presence.ts";
import { isNews } from "../status/urgency.ts";
import { noStates, type Tallies, worstOf } from "../summary/aggregate.ts";
import { unheardState } from "../summary/deployment-state.ts";
import type { GroupTally, Member } from "../summary/group-aggregate.ts";
import { summaryVerdict, type Verdict } from "../summary/ready-condition.ts";
import { worstState } from "../summary/summarize.ts";
import { selectorProblem } from "../targeting/selector-problem.ts";

/** What a cluster counts for in its groups. */
export function toMember(cluster: Cluster, tallies: Tallies): Member {
  const { namespace = "", name } = cluster.metadata;
  const { states, total, resources } = tallies.ofCluster(clusterNamespaceName(namespace, name));
  const isOffline = presenceOf(cluster) !== "Connected";
  return {
    states: isOffline ? unheardStates(states) : { ...states },
    total,
    resources: { ...resources },
    isReady: !isOffline && worstOf(states) === "Ready",
    isOffline,
  };
}

function unheardStates(states: Member["states"]): Member["states"] {
  const unheard = noStates();
  for (const state of bundleStates) unheard[unheardState(state)] += states[state];
  return unheard;
}

export interface ClusterGroupInputs {
  readonly group: ClusterGroup;
  readonly tally: GroupTally;
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

export function isClusterGroupNews(
  before: ClusterGroupStatus | undefined,
  after: ClusterGroupStatus,
): boolean {
  return ["Processed", "Ready"].some((type) =>
    isNews(findCondition(before?.conditions, type), findCondition(after.conditions, type)),
  );
}

function processedVerdict({ spec }: ClusterGroup): Verdict {
  const problem = spec.selector ? selectorProblem(spec.selector) : undefined;
  return problem === undefined
    ? { status: "True", reason: "", message: "" }
    : { status: "False", reason: "Error", message: `the selector cannot be used: ${problem}` };
}

function readyVerdict(tally: GroupTally, summary: BundleSummary): Verdict {
  const verdict = summaryVerdict(summary, "Cluster");
  if (tally.clusters === 0) return { ...verdict, message: "no cluster belongs to the group" };
  const away = tally.offline.size;
  if (away === 0) return verdict;
  const names = tally.offline.first(maxListed).map(nameOf).join(", ");
  const text = `${away} of ${tally.clusters} clusters have no agent connected: ${names}${away > maxListed ? ", …" : ""}`;
  return verdict.status === "False"
    ? { ...verdict, message: `${verdict.message}; ${text}` }
    : { status: "Unknown", reason: "Offline", message: text };
}

/** All of them are in the group's own namespace. */
function nameOf(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}
