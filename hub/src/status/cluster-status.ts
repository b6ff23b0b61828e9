/** The status of a Cluster but for `agent`, which the replica writes that holds the agent. Pure. */
import type { Cluster, ClusterStatus } from "@flotilla/shared/api/cluster.ts";
import type { BundleSummary } from "@flotilla/shared/api/summary.ts";
import { findCondition, setConditions } from "@flotilla/shared/conditions/condition.ts";
import { worstState } from "../rollup/summarize.ts";
import type { Tally } from "../rollup/tally.ts";
import { isNews } from "./news.ts";
import { summaryVerdict } from "./ready-condition.ts";

export interface ClusterInputs {
  readonly cluster: Cluster;
  /** The cluster's own namespace, once it is there. */
  readonly namespace: string;
  readonly summary: BundleSummary;
  readonly tally: Tally;
  /** RFC 3339. */
  readonly now: string;
}

export function clusterStatus({
  cluster,
  namespace,
  summary,
  tally,
  now,
}: ClusterInputs): ClusterStatus {
  const before = cluster.status;
  const state = clusterState(cluster, summary);
  return {
    ...before,
    namespace,
    conditions: setConditions(
      before?.conditions ?? [],
      [
        {
          type: "Ready",
          ...summaryVerdict(summary, "Bundle"),
          observedGeneration: cluster.metadata.generation ?? 0,
        },
      ],
      now,
    ),
    summary,
    resourceCounts: { ...tally.resources },
    display: {
      readyBundles: `${summary.ready}/${summary.desiredReady}`,
      ...(state !== "" && { state }),
    },
  };
}

export function isClusterNews(before: ClusterStatus | undefined, after: ClusterStatus): boolean {
  if (before?.namespace !== after.namespace) return true;
  return isNews(
    findCondition(before?.conditions, "Ready"),
    findCondition(after.conditions, "Ready"),
  );
}

/** What to look at first: an agent that never came or is gone, then what it runs. */
function clusterState(cluster: Cluster, summary: BundleSummary): string {
  const agent = cluster.status?.agent;
  if (agent?.epoch === undefined) return "WaitCheckIn";
  return agent.connected === true ? worstState(summary) : "Offline";
}
