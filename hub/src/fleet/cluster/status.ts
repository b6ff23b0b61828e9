/** The status of a Cluster except for `agent`, which is written by the replica that serves the agent. Pure. */
import type { BundleSummary, Cluster, ClusterStatus } from "@flotilla/shared/api";
import { findCondition, setConditions } from "@flotilla/shared/conditions";
import {
  isUrgentChange,
  managedElsewhereText,
  type NamespaceChoice,
  presenceOf,
  revocationOf,
  type TakenNamespace,
} from "../../base/index.ts";
import {
  type Aggregate,
  type ConditionState,
  type Coverage,
  summaryReady,
  worstState,
} from "../../rules/index.ts";
import { takenText } from "./events.ts";
import { remarkOnCluster } from "./remarks.ts";
import { isOtherCoverage, scheduledFields, scheduleInvalid, scheduleRemark } from "./scheduled.ts";

export interface ClusterInputs {
  readonly cluster: Cluster;
  /** The cluster namespace, when it exists, or whose it is. */
  readonly namespace: NamespaceChoice;
  readonly summary: BundleSummary;
  readonly aggregate: Aggregate;
  /** What its Schedules say now. */
  readonly coverage: Coverage;
  /**
   * Names of the deployments that a Cluster with deletion policy Uninstall waits for while it is being deleted; absent
   * otherwise.
   */
  readonly remaining?: readonly string[];
  /** RFC 3339. */
  readonly now: string;
}

/** Names of deployments in one message. */
const maxNames = 3;

export function clusterStatus({
  cluster,
  namespace,
  summary,
  aggregate,
  coverage,
  remaining,
  now,
}: ClusterInputs): ClusterStatus {
  const { namespace: _, scheduled: __, activeSchedule: ___, ...before } = cluster.status ?? {};
  if (namespace.kind === "taken") return takenStatus(cluster, before, namespace, now);
  const presence = presenceOf(cluster);
  const state = presence === "Connected" ? worstState(summary) : presence;
  const observedGeneration = cluster.metadata.generation ?? 0;
  return {
    ...before,
    namespace: namespace.name,
    conditions: setConditions(
      before.conditions ?? [],
      [
        // Its namespace exists, which is all that the hub does for a Cluster itself.
        { type: "Processed", ...processedState(cluster, coverage), observedGeneration },
        { type: "Ready", ...readyState(cluster, summary, remaining), observedGeneration },
      ],
      now,
    ),
    summary,
    ...scheduledFields(coverage),
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
  if (before?.namespace !== after.namespace || isOtherSchedule(before, after)) return true;
  return isUrgentChange(
    findCondition(before?.conditions, "Ready"),
    findCondition(after.conditions, "Ready"),
  );
}

function processedState(cluster: Cluster, coverage: Coverage): ConditionState {
  const schedule = scheduleRemark(coverage);
  const message = [remarkOnCluster(cluster), schedule].filter((text) => text !== "").join("; ");
  return { status: "True", reason: schedule === "" ? "" : scheduleInvalid, message };
}

function isOtherSchedule(before: ClusterStatus | undefined, after: ClusterStatus): boolean {
  const { scheduled = false, activeSchedule = false } = after;
  return isOtherCoverage(before, { isScheduled: scheduled, isActive: activeSchedule });
}

/** The status of a Cluster whose namespace would be another one's. */
function takenStatus(
  { metadata }: Cluster,
  before: ClusterStatus,
  namespace: TakenNamespace,
  now: string,
): ClusterStatus {
  const why = {
    status: "False",
    reason: "NamespaceTaken",
    message: takenText(namespace),
    observedGeneration: metadata.generation ?? 0,
  } as const;
  const conditions = setConditions(
    before.conditions ?? [],
    [
      { type: "Processed", ...why },
      { type: "Ready", ...why },
    ],
    now,
  );
  return { ...before, conditions };
}

/** The status of a Cluster that another system manages: the rest of its status stays as it is. */
export function managedElsewhereStatus(cluster: Cluster, now: string): ClusterStatus {
  const { status: before = {}, metadata } = cluster;
  const why = {
    reason: "ManagedElsewhere",
    message: managedElsewhereText(cluster),
    observedGeneration: metadata.generation ?? 0,
  } as const;
  const conditions = setConditions(
    before.conditions ?? [],
    [
      { type: "Processed", status: "False", ...why },
      { type: "Ready", status: "Unknown", ...why },
    ],
    now,
  );
  return { ...before, conditions };
}

/** Whether a cluster without an agent is ready is not known; the message has the last known state. */
function readyState(
  cluster: Cluster,
  summary: BundleSummary,
  remaining: readonly string[] | undefined,
): ConditionState {
  if (remaining !== undefined)
    return {
      status: "False",
      reason: "Uninstalling",
      message: uninstallingMessage(cluster, remaining),
    };
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
          : `last known state: ${ready.message}`;
      const revocation = revocationOf(cluster);
      const why =
        revocation === undefined
          ? ""
          : ` (the cluster was revoked at ${revocation.text}; to enrol it again, create a new ClusterRegistrationToken)`;
      return {
        status: "Unknown",
        reason: presence,
        message: `${offlineSince(cluster)}${why}; ${last}`,
      };
    }
  }
}

/** What a Cluster that is being deleted waits for, and how to delete it without waiting. */
function uninstallingMessage(cluster: Cluster, remaining: readonly string[]): string {
  const names = remaining.slice(0, maxNames).join(", ");
  const more = remaining.length > maxNames ? ` and ${remaining.length - maxNames} more` : "";
  if (remaining.length === 0) return "everything is uninstalled; removing the Cluster";
  const offline =
    presenceOf(cluster) === "Offline"
      ? `; ${offlineSince(cluster)} and continues when it reconnects`
      : "";
  return `waiting for the agent to uninstall ${names}${more}${offline}; to delete the Cluster now and keep its releases, set spec.deletionPolicy to Retain`;
}

function offlineSince(cluster: Cluster): string {
  const since = cluster.status?.agent?.lastSeen;
  return `the agent is not connected${since ? ` since ${since}` : ""}`;
}
