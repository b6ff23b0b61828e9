/** A release in one cluster, as the dashboard shows it. Pure. */
import {
  type Bundle,
  type BundleDeployment,
  type BundleState,
  type Cluster,
  describeRequest,
} from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { AppRef, ClusterRelease, ReleaseDetail } from "@flotilla/shared/dashboard";
import { fluxType } from "@flotilla/shared/flux/reasons";
import { refOf } from "@flotilla/shared/kube/objects";
import { bundleKeyOf, presenceOf } from "../../base/index.ts";
import {
  driftText,
  isAboutDesired,
  shownConditions,
  stateOf,
  stateWhileOffline,
} from "../../rules/index.ts";

/** The conditions that explain why a release is not ready, the most specific first. */
const explaining = ["Deployed", "Installed", "Monitored", "Ready"] as const;

export interface ReleaseInputs {
  readonly app: AppRef;
  /** Undefined: it is deleted, and the deployment waits for its agent to uninstall. */
  readonly bundle: Bundle | undefined;
  readonly deployment: BundleDeployment;
  readonly cluster: Cluster | undefined;
}

export function releaseOf({ app, bundle, deployment, cluster }: ReleaseInputs): ClusterRelease {
  const { metadata, spec, status } = deployment;
  const { namespace = "", name } = refOf(bundleKeyOf(deployment));
  const reported = stateOf(deployment);
  const isOffline = cluster !== undefined && presenceOf(cluster) !== "Connected";
  const state = isOffline ? stateWhileOffline(reported) : reported;
  const failed = explaining
    .map((type) => findCondition(status?.conditions, type))
    .find((condition) => condition?.status === "False" && condition.message);
  const ready = findCondition(status?.conditions, "Ready");
  const since = (failed ?? ready)?.lastTransitionTime;
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const desired = isDeleted ? undefined : bundle?.status?.version;
  return {
    app,
    bundle: { namespace, name },
    state,
    sync: hasFailedAttempt(deployment) ? "Failed" : syncOf(reported),
    health: isOffline ? "Unknown" : healthOf(deployment, reported),
    suspended: spec.suspend === true,
    uninstalling: false,
    ...messageOf({ state, isOffline }, failed?.message, deployment),
    ...(since && { since }),
    ...(status?.release && { release: status.release }),
    ...(status?.version && { version: status.version }),
    ...(desired && desired !== status?.version && { desiredVersion: desired }),
    ...(isDeleted && pendingUninstall(deployment, isOffline)),
  };
}

/** What a deployment that is being deleted has instead, and what it waits for. */
function pendingUninstall({ metadata, spec, status }: BundleDeployment, isOffline: boolean) {
  const ready = findCondition(status?.conditions, "Ready");
  const error = ready?.reason === "ErrUninstall" ? ready.message : undefined;
  const waiting = isOffline
    ? "waiting for the cluster's agent to connect"
    : spec.suspend === true
      ? "waiting for the agent to remove the deployment; it is suspended, so its release stays installed"
      : "waiting for the agent to uninstall the release";
  return {
    uninstalling: true,
    sync: error ? ("Failed" as const) : ("Waiting" as const),
    message: error && !isOffline ? error : waiting,
    ...(metadata.deletionTimestamp !== undefined && { since: metadata.deletionTimestamp }),
  };
}

/** Whether the last attempt at a release failed: what is installed is then what an earlier one left. */
function hasFailedAttempt(deployment: BundleDeployment): boolean {
  const released = findCondition(deployment.status?.conditions, fluxType.released);
  return released?.status === "False" && isAboutDesired(deployment);
}

function messageOf(
  { state, isOffline }: { readonly state: BundleState; readonly isOffline: boolean },
  message: string | undefined,
  { status }: BundleDeployment,
): Pick<ClusterRelease, "message"> {
  if (state === "Ready") return {};
  const drift = driftText(status?.modifiedStatus ?? []);
  const text = (state === "Modified" ? drift : "") || message;
  if (isOffline) return { message: `the cluster is offline${text ? `; last known: ${text}` : ""}` };
  return text ? { message: text } : {};
}

/** Whether what is installed is what is desired. */
function syncOf(state: BundleState): ClusterRelease["sync"] {
  switch (state) {
    case "ErrApplied":
      return "Failed";
    case "Modified":
      return "Modified";
    case "WaitApplied":
    case "OutOfSync":
    case "Pending":
      return "Waiting";
    case "NotReady":
    case "Offline":
    case "Ready":
      return "InSync";
  }
}

/** Whether what is installed works, even if it is not what is desired. */
function healthOf({ status }: BundleDeployment, state: BundleState): ClusterRelease["health"] {
  if (!status?.release) return "Unknown";
  const objects = status.nonReadyStatus ?? [];
  if (objects.some(({ summary }) => summary?.error === true)) return "Degraded";
  if (objects.length > 0 || state === "NotReady") return "Progressing";
  return status.ready === true ? "Healthy" : "Unknown";
}

/** The details of a release, without what depends on the rights of the user. */
export function releaseDetailOf(
  inputs: ReleaseInputs,
): Omit<ReleaseDetail, "cluster" | "connected" | "requests" | "actions" | "events"> {
  const { status } = inputs.deployment;
  return {
    ...releaseOf(inputs),
    conditions: shownConditions(status?.conditions),
    ...(status?.chartDigest && { chartDigest: status.chartDigest }),
    ...(status?.lastRequest && { lastRequest: describeRequest(status.lastRequest) }),
    notReady: (status?.nonReadyStatus ?? []).map(({ summary, ...object }) => ({
      ...nameOf(object),
      state: summary?.state ?? "not ready",
      ...(summary?.message?.[0] && { message: summary.message[0] }),
    })),
    modified: (status?.modifiedStatus ?? []).map(
      ({ fields, manager, time, missing, ...object }) => ({
        ...nameOf(object),
        fields: [...(fields ?? [])],
        ...(manager && { manager }),
        ...(time && { time }),
        result: missing === true ? "Missing" : "Detected",
      }),
    ),
    history: (status?.history ?? []).map(
      ({ version, status: helm = "", action, chartVersion = "", lastDeployed }) => ({
        revision: version,
        status: helm,
        chartVersion,
        ...(action && { action }),
        ...(lastDeployed && { deployedAt: lastDeployed }),
      }),
    ),
    driftHistory: (status?.driftHistory ?? []).map(
      ({ time, fields, manager, result, ...object }) => ({
        ...nameOf(object),
        fields: [...(fields ?? [])],
        ...(manager && { manager }),
        time,
        result: result ?? "",
      }),
    ),
  };
}

interface NamedObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

function nameOf({ apiVersion = "", kind = "", namespace = "", name = "" }: NamedObject) {
  return { apiVersion, kind, namespace, name };
}
