/**
 * Events about releases, drift and connections, each decided by comparing the status that the API server has with the next one.
 * One for each change of an object, however many clusters have it. Pure.
 */

import {
  type BundleSummary,
  type Cluster,
  type ClusterStatus,
  type Condition,
  apiVersion as fleetApiVersion,
  type LastResults,
  type LastSuccess,
} from "@flotilla/shared/api";
import { appDefinition, isAppKind } from "@flotilla/shared/api/apps";
import { findCondition } from "@flotilla/shared/conditions";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import type { EventNote } from "@flotilla/shared/kube/events";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import { cutText } from "@flotilla/shared/text";
import { isOtherDrift, isOtherFailure, isOtherSuccess, isOtherTest } from "../../rules/index.ts";

/** The part of a status that all kinds of app share. */
export interface ReleaseStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly summary?: BundleSummary | undefined;
  readonly lastSuccess?: LastSuccess | undefined;
  readonly lastResults?: LastResults | undefined;
  /** The version of the chart. */
  readonly version?: string | undefined;
  readonly appVersion?: string | undefined;
  /** The OCI digest of the chart's artifact in a registry. */
  readonly ociDigest?: string | undefined;
  /** The origin revision of the Git repository that the chart is from. */
  readonly originRevision?: string | undefined;
}

const action = "ReconcileRelease";
const messageChars = 900;
const mostNamed = 5;

export function releaseEvents(
  object: KubeObject,
  before: ReleaseStatus | undefined,
  after: ReleaseStatus,
): readonly EventNote[] {
  const isDeleted = object.metadata.deletionTimestamp !== undefined;
  const { kind = "" } = object;
  const blockedBy = isAppKind(kind) ? appDefinition(kind).blockedBy : "Accepted";
  const blocked = { Ready: blockedEvent, Accepted: rejectionEvent }[blockedBy](before, after);
  const failure = blocked === undefined ? failureEvent(before, after) : undefined;
  const events = (
    isDeleted
      ? [uninstallEvent(before, after)]
      : [
          blocked,
          failure,
          (failure ?? blocked) === undefined ? testEvent(before, after) : undefined,
          remediationEvent(before, after),
          successEvent(before, after),
          driftEvent(before, after),
        ]
  ).flatMap((event) => event ?? []);
  return events.map((event) => ({
    ...event,
    note: cutText(event.note, messageChars),
    metadata: releaseMetadata(object, after, event.type === "Warning"),
  }));
}

export function clusterEvents(
  cluster: Cluster,
  before: ClusterStatus | undefined,
  after: ClusterStatus,
): readonly EventNote[] {
  const [was, is] = [
    findCondition(before?.conditions, "Ready"),
    findCondition(after.conditions, "Ready"),
  ];
  if (was === undefined || is === undefined || was.reason === is.reason) return [];
  const metadata = { [`${fleetApiVersion.split("/")[0]}/cluster`]: keyOf(cluster) };
  if (is.reason === "Offline")
    return [
      {
        type: "Warning",
        reason: "ClusterOffline",
        action: "Connect",
        note: is.message ?? "",
        metadata,
      },
    ];
  const wasAway = was.reason === "Offline" || was.reason === "WaitCheckIn";
  const isAway = is.reason === "WaitCheckIn" || is.reason === "ManagedElsewhere";
  if (!wasAway || isAway) return [];
  const summary = after.display?.readyBundles ?? "";
  const note = `the agent is connected${summary === "" ? "" : `; ${summary} deployments are ready`}`;
  return [{ type: "Normal", reason: "ClusterOnline", action: "Connect", note, metadata }];
}

/**
 * Flux's reasons of Ready for a release that Helm is not run for, and the reasons of the hub's own rules. Violations of a Policy have
 * Events of their own.
 */
const blockedTypes: Readonly<Record<string, EventNote["type"]>> = {
  [fluxReason.accessDenied]: "Warning",
  [fluxReason.artifactFailed]: "Warning",
  [fluxReason.chartMutateError]: "Warning",
  [fluxReason.dependencyNotReady]: "Normal",
  [fluxReason.invalidCELExpression]: "Warning",
  [fluxReason.valuesError]: "Warning",
  Invalid: "Warning",
  NameTaken: "Warning",
};

/**
 * Once for each reason, and for each message of the hub: users fix what the message names, and the next one names what is left, of
 * which neither the status nor the reason differ. So the message is compared as what is announced; nothing is read from it.
 */
function blockedEvent(
  before: ReleaseStatus | undefined,
  after: ReleaseStatus,
): EventNote | undefined {
  const { reason = "", message = "" } = conditionOf(after, fluxType.ready) ?? {};
  const type = blockedTypes[reason];
  const failure = after.lastResults?.failure;
  if (type === undefined) return undefined;
  const rejection = (status: ReleaseStatus | undefined) => {
    const accepted = conditionOf(status, "Accepted");
    return accepted?.status === "False" ? accepted.message : undefined;
  };
  const isSame =
    conditionOf(before, fluxType.ready)?.reason === reason &&
    rejection(before) === rejection(after);
  // What an agent says of a failure has the time of its next attempt.
  const isOfHub = rejection(after) !== undefined || failure === undefined;
  return isSame ? undefined : { type, reason, action, note: isOfHub ? message : failure.message };
}

/** When the spec is rejected, and again when another message says why: as above, the message is what is announced. */
function rejectionEvent(
  before: ReleaseStatus | undefined,
  after: ReleaseStatus,
): EventNote | undefined {
  const accepted = conditionOf(after, "Accepted");
  const { status, reason = "", message = "" } = accepted ?? {};
  if (status !== "False" || !rejections.has(reason)) return undefined;
  const earlier = conditionOf(before, "Accepted");
  const isSame =
    earlier?.status === status && earlier.reason === reason && earlier.message === message;
  return isSame ? undefined : { type: "Warning", reason, action, note: message };
}

/** Reasons of Accepted=False. Sources that are not ready and violations of a Policy have Events of their own. */
const rejections: ReadonlySet<string> = new Set([
  fluxReason.accessDenied,
  "Invalid",
  fluxReason.invalidCELExpression,
  "NameTaken",
  fluxReason.valuesError,
]);

/** With the first failure, and again with ten, a hundred and a thousand clusters that fail. */
function failureEvent(
  before: ReleaseStatus | undefined,
  after: ReleaseStatus,
): EventNote | undefined {
  const [had, has] = [before?.summary?.errApplied ?? 0, after.summary?.errApplied ?? 0];
  if (has === 0) return undefined;
  const released = conditionOf(after, fluxType.released);
  const isFailed = released?.status === "False";
  const earlier = conditionOf(before, fluxType.released);
  const isOther =
    isFailed &&
    (earlier?.status !== "False" ||
      earlier.reason !== released.reason ||
      isOtherFailure(before?.lastResults?.failure, after.lastResults?.failure));
  if (magnitude(has) <= magnitude(had) && !isOther) return undefined;
  const isTest = conditionOf(after, fluxType.testSuccess)?.status === "False";
  const reason = isFailed
    ? (released.reason ?? "")
    : isTest
      ? fluxReason.testFailed
      : stalledReason(after);
  return {
    type: "Warning",
    reason,
    action,
    note: failureText(after.summary ?? {}, after.lastResults?.failure),
  };
}

/** The reason of a failure before Helm ran; as in Flux where one release has failed for good, such as `ValuesError`. */
function stalledReason(status: ReleaseStatus): string {
  const stalled = conditionOf(status, fluxType.stalled);
  return (stalled?.status === "True" && stalled.reason) || fluxReason.reconciliationFailed;
}

/** The limit of a sentence: an event has 1,024 bytes, and the clusters are to be named, too. */
const mostOfSentence = 700;

/**
 * `helm upgrade …; 2 of 3 clusters failed: fleet-default/oslo, fleet-default/rome`: first what failed, as in Flux, so that it is
 * seen where an event is cut. The same for each attempt that fails in the same way: by this text a repeated event is recognised.
 */
function failureText(summary: Partial<BundleSummary>, failure: LastResults["failure"]): string {
  const { errApplied = 0, desiredReady = 0 } = summary;
  const failed = failedClusters(summary);
  const names = failed.slice(0, mostNamed).map(({ name }) => name);
  const more = errApplied > names.length ? `, and ${errApplied - names.length} more` : "";
  const clusters = `${errApplied} of ${desiredReady} clusters failed: ${names.join(", ")}${more}`;
  if (failure === undefined || failure.message === "") return clusters;
  return `${cutText(`${failure.cluster}: ${failure.message}`, mostOfSentence)}; ${clusters}`;
}

/** While the object is deleted: once for each message, which has the cause and the clusters that are left, and no time. */
function uninstallEvent(
  before: ReleaseStatus | undefined,
  after: ReleaseStatus,
): EventNote | undefined {
  const ready = conditionOf(after, fluxType.ready);
  const earlier = conditionOf(before, fluxType.ready);
  const { reason = "", message = "" } = ready ?? {};
  if (reason !== fluxReason.uninstallFailed) return undefined;
  const isSame = earlier?.reason === reason && earlier.message === message;
  return isSame ? undefined : { type: "Warning", reason, action, note: message };
}

function testEvent(before: ReleaseStatus | undefined, after: ReleaseStatus): EventNote | undefined {
  const tested = conditionOf(after, fluxType.testSuccess);
  const earlier = conditionOf(before, fluxType.testSuccess);
  if (tested === undefined || tested.status === "Unknown") return undefined;
  const isSame =
    earlier?.status === tested.status &&
    !isOtherTest(before?.lastResults?.test, after.lastResults?.test);
  if (isSame) return undefined;
  const type = tested.status === "False" ? "Warning" : "Normal";
  return { type, reason: tested.reason ?? "", action, note: tested.message ?? "" };
}

function remediationEvent(
  before: ReleaseStatus | undefined,
  after: ReleaseStatus,
): EventNote | undefined {
  const remediated = conditionOf(after, fluxType.remediated);
  const earlier = conditionOf(before, fluxType.remediated);
  if (remediated === undefined) return undefined;
  const isSame =
    earlier?.status === remediated.status &&
    earlier.reason === remediated.reason &&
    before?.version === after.version;
  if (isSame) return undefined;
  const type = remediated.status === "False" ? "Warning" : "Normal";
  return { type, reason: remediated.reason ?? "", action, note: remediated.message ?? "" };
}

/** Once all clusters that are connected have another release, or have recovered. */
function successEvent(
  before: ReleaseStatus | undefined,
  after: ReleaseStatus,
): EventNote | undefined {
  const released = conditionOf(after, fluxType.released);
  if (!isSettled(after) || after.lastSuccess === undefined) return undefined;
  const hadFailed = (before?.summary?.errApplied ?? 0) > 0;
  if (!hadFailed && !isNewSuccess(before, after.lastSuccess)) return undefined;
  const { reason = "", message = "" } = released ?? {};
  // Otherwise it would be the same event as the first success of the same release.
  const note = hadFailed ? `recovered from a failure; ${message}` : message;
  return { type: "Normal", reason, action, note };
}

function isNewSuccess(before: ReleaseStatus | undefined, after: LastSuccess): boolean {
  if (before?.lastSuccess !== undefined) return isOtherSuccess(before.lastSuccess, after);
  // From a hub without the field, which has announced what all clusters had.
  return before === undefined || !isSettled(before) || before.version !== after.version;
}

/** Whether all connected clusters have what is released. */
function isSettled(status: ReleaseStatus): boolean {
  const { errApplied = 0, waitApplied = 0, pending = 0, outOfSync = 0 } = status.summary ?? {};
  const isUnderWay = errApplied + waitApplied + pending + outOfSync > 0;
  return conditionOf(status, fluxType.released)?.status === "True" && !isUnderWay;
}

function driftEvent(
  before: ReleaseStatus | undefined,
  after: ReleaseStatus,
): EventNote | undefined {
  const drifted = conditionOf(after, fluxType.drifted);
  const earlier = conditionOf(before, fluxType.drifted);
  const { reason = "", message = "" } = drifted ?? {};
  const type = driftTypes[reason];
  if (type === undefined) return undefined;
  const isSame =
    earlier?.reason === reason &&
    !isOtherDrift(before?.lastResults?.drift, after.lastResults?.drift);
  return isSame ? undefined : { type, reason, action, note: message };
}

const driftTypes: Readonly<Record<string, EventNote["type"]>> = {
  [fluxReason.driftDetected]: "Warning",
  [fluxReason.driftCorrectionFailed]: "Warning",
  [fluxReason.driftCorrected]: "Normal",
};

/** What an event says about the release, with Flux's keys. */
export function releaseMetadata(
  { apiVersion = "" }: KubeObject,
  { version, appVersion, ociDigest, originRevision, summary }: ReleaseStatus,
  isFailure: boolean,
): Readonly<Record<string, string>> {
  const [group = ""] = apiVersion.split("/");
  const clusters = failedClusters(summary ?? {})
    .slice(0, mostNamed)
    .map(({ name }) => name);
  return {
    ...(version && { [`${group}/revision`]: version }),
    ...(appVersion && { [`${group}/app-version`]: appVersion }),
    ...(ociDigest && { [`${group}/oci-digest`]: ociDigest }),
    ...(originRevision && { [`${group}/originRevision`]: originRevision }),
    ...(isFailure && clusters.length > 0 && { [`${group}/cluster`]: clusters.join(", ") }),
    ...(summary !== undefined && {
      [`${group}/clusters`]: `${summary.ready} of ${summary.desiredReady} ready`,
    }),
  };
}

/** Those that failed; else those that have drift. */
function failedClusters({ nonReadyResources }: Partial<BundleSummary>) {
  const named = nonReadyResources ?? [];
  const failed = named.filter(({ bundleState }) => bundleState === "ErrApplied");
  return failed.length > 0 ? failed : named.filter(({ bundleState }) => bundleState === "Modified");
}

function conditionOf(status: ReleaseStatus | undefined, type: string): Condition | undefined {
  return findCondition(status?.conditions, type);
}

function magnitude(count: number): number {
  return String(count).length * Number(count > 0);
}
