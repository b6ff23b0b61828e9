/** The status of a Cluster but for `agent`, which the replica writes that holds the agent. Pure. */
import type { BundleSummary, Cluster, ClusterStatus } from "@flotilla/shared/api";
import { findCondition, setConditions } from "@flotilla/shared/conditions";
import { presenceOf, revocationOf } from "../clusterstate/index.ts";
import type { ConditionState } from "../frontend/index.ts";
import { isUrgentChange } from "../status/index.ts";
import { type Aggregate, summaryReady, worstState } from "../summary/index.ts";

export interface ClusterInputs {
  readonly cluster: Cluster;
  /** The cluster's own namespace, once it is there. */
  readonly namespace: string;
  readonly summary: BundleSummary;
  readonly aggregate: Aggregate;
  /** Names of the deployments that a Cluster still waits for which is emptied before it goes; absent for every other. */
  readonly remaining?: readonly string[];
  /** RFC 3339. */
  readonly now: string;
}

/** Names of deployments in one sentence. */
const toldNames = 3;

export function clusterStatus({
  cluster,
  namespace,
  summary,
  aggregate,
  remaining,
  now,
}: ClusterInputs): ClusterStatus {
  const before = cluster.status;
  const presence = presenceOf(cluster);
  const state = presence === "Connected" ? worstState(summary) : presence;
  const observedGeneration = cluster.metadata.generation ?? 0;
  return {
    ...before,
    namespace,
    conditions: setConditions(
      before?.conditions ?? [],
      [
        // Its namespace is there, which is all that the hub does for a Cluster itself.
        { type: "Processed", status: "True", observedGeneration },
        { type: "Ready", ...readyState(cluster, summary, remaining), observedGeneration },
      ],
      now,
    ),
    summary,
    resourceCounts: { ...aggregate.resources },
    readyHelmOps: aggregate.helmOps.ready,
    desiredReadyHelmOps: aggregate.helmOps.total,
    display: {
      readyBundles: `${summary.ready}/${summary.desiredReady}`,
      ...(state !== "" && { state }),
    },
  };
}

export function isUrgentCluster(before: ClusterStatus | undefined, after: ClusterStatus): boolean {
  if (before?.namespace !== after.namespace) return true;
  return isUrgentChange(
    findCondition(before?.conditions, "Ready"),
    findCondition(after.conditions, "Ready"),
  );
}

/** Of a cluster without an agent nobody knows whether it is ready; what was known last is said. */
function readyState(
  cluster: Cluster,
  summary: BundleSummary,
  remaining: readonly string[] | undefined,
): ConditionState {
  if (remaining !== undefined)
    return { status: "False", reason: "Uninstalling", message: leavingMessage(cluster, remaining) };
  const ready = summaryReady(summary, "Bundle");
  const presence = presenceOf(cluster);
  switch (presence) {
    case "Connected":
      return ready;
    case "WaitCheckIn":
      return { status: "Unknown", reason: presence, message: "no agent has connected yet" };
    case "Offline": {
      const last =
        ready.status === "True"
          ? `${summary.ready}/${summary.desiredReady} were ready then`
          : `what was known then: ${ready.message}`;
      const revocation = revocationOf(cluster);
      const why =
        revocation === undefined
          ? ""
          : ` (the cluster was revoked at ${revocation.text}; a ClusterRegistrationToken that is made after that enrols it again)`;
      return {
        status: "Unknown",
        reason: presence,
        message: `${awaySince(cluster)}${why}; ${last}`,
      };
    }
  }
}

/** On what a Cluster waits that is being deleted, and how somebody lets go of it who will not wait. */
function leavingMessage(cluster: Cluster, remaining: readonly string[]): string {
  const names = remaining.slice(0, toldNames).join(", ");
  const more = remaining.length > toldNames ? ` and ${remaining.length - toldNames} more` : "";
  const waits =
    remaining.length === 0
      ? "the cluster is being deleted, and everything is uninstalled"
      : `the cluster is being deleted and waits until its agent has uninstalled ${names}${more}`;
  const away =
    presenceOf(cluster) === "Offline" ? `; ${awaySince(cluster)}, and goes on when it is back` : "";
  return `${waits}${away}; to let it go at once and leave what is installed, set spec.deletionPolicy to Retain`;
}

function awaySince(cluster: Cluster): string {
  const since = cluster.status?.agent?.lastSeen;
  return `the agent is not connected${since ? ` since ${since}` : ""}`;
}
