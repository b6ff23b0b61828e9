/**
 * Decides the next action for a deployment, from Helm's storage and the desired release. Pure. It is called again after each
 * action, so the agent can continue after a crash at any point.
 */
import type { DeploymentKey } from "@flotilla/proto";
import { isLocked, type ReleaseRecord } from "../helm/index.ts";

export interface Desired {
  readonly owner: DeploymentKey;
  readonly namespace: string;
  readonly name: string;
  /** The release digest of the content. */
  readonly digest: string;
}

/** A Helm run of the agent that was interrupted. */
export interface InterruptedRun {
  /** The revision that it was creating. */
  readonly revision: number;
  /** Helm creates another revision when it fails, to roll back. */
  readonly rollsBack: boolean;
}

export interface Observed {
  /** The newest record of the desired release. */
  readonly latest: ReleaseRecord | undefined;
  /** The newest records of all releases of this deployment, with any name. */
  readonly owned: readonly ReleaseRecord[];
  /** The run that was interrupted, if any. */
  readonly interruptedRun: InterruptedRun | undefined;
  /** Whether a deployment of this name and UID is assigned to this cluster. */
  readonly isAssigned: (owner: DeploymentKey) => boolean;
  /** The time of the retry after the last failure of this content, ms since 1970. */
  readonly retryAtMs: number | undefined;
  readonly nowMs: number;
  /** How long the newest record has not changed, by the monotonic clock of this process. */
  readonly unchangedMs: number;
  /** After this long without a change, a lock of another client is reported. */
  readonly lockTimeoutMs: number;
  /** A user has requested to continue in spite of the lock. */
  readonly isForced: boolean;
}

export type Action =
  /** In sync. */
  | { readonly kind: "none"; readonly record: ReleaseRecord }
  /** Absent or out of sync. */
  | { readonly kind: "upgrade"; readonly revision: number }
  /** In sync, but installed for a deployment that is not assigned any more: relabelled, without a run of Helm. */
  | { readonly kind: "adopt"; readonly record: ReleaseRecord }
  /** Locked by an interrupted run of the agent, or unlocked on request: marked as failed. */
  | { readonly kind: "unlock"; readonly record: ReleaseRecord }
  /** A release under an earlier name or in an earlier namespace, or one whose uninstall was interrupted. */
  | { readonly kind: "uninstall"; readonly record: ReleaseRecord }
  /** Locked by another Helm client, or failed and to be retried later. */
  | { readonly kind: "wait"; readonly untilMs: number; readonly why: "locked" | "failed" }
  /** Locked by another Helm client, whose record does not change any more. */
  | { readonly kind: "locked"; readonly record: ReleaseRecord }
  /** Another deployment has the release. */
  | { readonly kind: "conflict"; readonly owner: DeploymentKey };

/** Helm's own timeout when a release has none. */
export const defaultLockTimeoutMs = 5 * 60_000;

/** An uninstall takes a second or two; an older one was interrupted. */
export const uninstallingMs = 10_000;

export function nextAction(desired: Desired, observed: Observed): Action {
  const { latest, nowMs } = observed;
  const owner = latest?.status === "uninstalled" ? undefined : latest?.owner;
  if (owner !== undefined && !isSame(owner, desired.owner) && observed.isAssigned(owner)) {
    return { kind: "conflict", owner };
  }
  if (latest !== undefined && isLocked(latest)) {
    if (observed.isForced || isOwnLock(latest, desired.owner, observed.interruptedRun))
      return { kind: "unlock", record: latest };
    const leftMs = observed.lockTimeoutMs - observed.unchangedMs;
    return leftMs > 0
      ? { kind: "wait", untilMs: nowMs + leftMs, why: "locked" }
      : { kind: "locked", record: latest };
  }
  const moved = observed.owned.find(
    (record) =>
      isSame(record.owner, desired.owner) &&
      !isDesired(record, desired) &&
      record.status !== "uninstalled",
  );
  if (moved !== undefined) return { kind: "uninstall", record: moved };
  if (latest?.status === "uninstalling") {
    // It most likely still runs; a concurrent uninstall or install would result in an undefined state.
    const leftMs = uninstallingMs - observed.unchangedMs;
    return leftMs > 0
      ? { kind: "wait", untilMs: nowMs + leftMs, why: "locked" }
      : { kind: "uninstall", record: latest };
  }
  if (latest !== undefined && isUpToDate(latest, desired)) {
    // For instance, the hub has lost its data, and the same HelmOp was created again.
    return { kind: isSame(latest.owner, desired.owner) ? "none" : "adopt", record: latest };
  }
  if (observed.retryAtMs !== undefined && observed.retryAtMs > nowMs) {
    return { kind: "wait", untilMs: observed.retryAtMs, why: "failed" };
  }
  return { kind: "upgrade", revision: (latest?.revision ?? 0) + 1 };
}

export function isInSync(record: ReleaseRecord, desired: Desired): boolean {
  return isUpToDate(record, desired) && isSame(record.owner, desired.owner);
}

/** Of any deployment. */
function isUpToDate(record: ReleaseRecord, desired: Desired): boolean {
  return record.status === "deployed" && record.isOwn && record.digest === desired.digest;
}

/** Whether the lock is of an interrupted run of the agent. */
export function isOwnLock(
  latest: ReleaseRecord,
  owner: DeploymentKey,
  interrupted: InterruptedRun | undefined,
): boolean {
  // A run that failed before it wrote a record is in the inventory, too; then the revision may be of another Helm client.
  const isLabelled = isSame(latest.labelled, owner);
  // Without the run, labels count for a release that is the deployment's by the inventory.
  if (isLabelled && isSame(latest.owner, owner)) return true;
  if (interrupted === undefined) return false;
  if (latest.revision === interrupted.revision) return isLabelled;
  // Helm copies the labels of the revision that it rolls back to, so only the revision number identifies the run.
  return (
    interrupted.rollsBack &&
    latest.status === "pending-rollback" &&
    latest.revision === interrupted.revision + 1
  );
}

function isDesired(record: ReleaseRecord, desired: Desired): boolean {
  return record.namespace === desired.namespace && record.name === desired.name;
}

function isSame(a: DeploymentKey | undefined, b: DeploymentKey): boolean {
  return a?.name === b.name && a.uid === b.uid;
}
