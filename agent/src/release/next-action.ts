/**
 * What is to be done for a deployment, from what Helm's storage says and what is wanted. Pure: after each action it is
 * asked again, so that a crash at any point leaves nothing that it does not know how to go on from.
 */
import type { DeploymentKey } from "@flotilla/proto/messages.ts";
import { isLocked, type ReleaseRecord } from "../helm/release-record.ts";

export interface Desired {
  readonly owner: DeploymentKey;
  readonly namespace: string;
  readonly name: string;
  /** The release digest of the content. */
  readonly digest: string;
}

/** A run of ours that did not come to its end. */
export interface InterruptedRun {
  /** The one that it was making. */
  readonly revision: number;
  /** Whether Helm makes another revision when it fails, by which it goes back. */
  readonly rollsBack: boolean;
}

export interface Observed {
  /** The newest record under the wanted name. */
  readonly latest: ReleaseRecord | undefined;
  /** The newest records of releases that were made for this deployment, under whatever name. */
  readonly owned: readonly ReleaseRecord[];
  /** What we were doing when we were last interrupted, if we were. */
  readonly interrupted: InterruptedRun | undefined;
  /** Whether a deployment that this agent holds goes by this name and UID. */
  readonly isHeld: (owner: DeploymentKey) => boolean;
  /** When the last failure of this very content is to be tried again, ms since 1970. */
  readonly retryAtMs: number | undefined;
  readonly nowMs: number;
}

export type Action =
  /** In sync. */
  | { readonly kind: "none"; readonly record: ReleaseRecord }
  /** Absent or out of sync. */
  | { readonly kind: "upgrade"; readonly revision: number }
  /** In sync, but made for a deployment that nobody holds any more: it is marked as this one's, without a run of Helm. */
  | { readonly kind: "adopt"; readonly record: ReleaseRecord }
  /** Locked by a run of ours that was cut off: it is marked as failed. */
  | { readonly kind: "unlock"; readonly record: ReleaseRecord }
  /** A release under an earlier name or in an earlier namespace, or one whose removal was cut off. */
  | { readonly kind: "uninstall"; readonly record: ReleaseRecord }
  /** Locked by somebody else, or failed for now. */
  | { readonly kind: "wait"; readonly untilMs: number; readonly why: "locked" | "failed" }
  /** Another deployment has the release. */
  | { readonly kind: "refuse"; readonly holder: DeploymentKey };

/** Helm gives up by itself after five minutes unless told otherwise; who waits longer than this is not coming back. */
export const foreignLockMs = 10 * 60_000;

/** A removal takes a second or two; one that is older was cut off. */
export const uninstallingMs = 10_000;

export function nextAction(desired: Desired, observed: Observed): Action {
  const { latest, nowMs } = observed;
  const holder = latest?.status === "uninstalled" ? undefined : latest?.owner;
  if (holder !== undefined && !isSame(holder, desired.owner) && observed.isHeld(holder)) {
    return { kind: "refuse", holder };
  }
  if (latest !== undefined && isLocked(latest)) {
    if (isOwnLock(latest, desired, observed.interrupted)) return { kind: "unlock", record: latest };
    const untilMs = latest.modifiedAtMs + foreignLockMs;
    return nowMs < untilMs
      ? { kind: "wait", untilMs, why: "locked" }
      : { kind: "unlock", record: latest };
  }
  const moved = observed.owned.find(
    (record) =>
      isSame(record.owner, desired.owner) &&
      !isWanted(record, desired) &&
      record.status !== "uninstalled",
  );
  if (moved !== undefined) return { kind: "uninstall", record: moved };
  if (latest?.status === "uninstalling") {
    // Whoever does it is most often at it still: two at a time, and an installation among them, leave who knows what.
    const untilMs = latest.modifiedAtMs + uninstallingMs;
    return nowMs < untilMs
      ? { kind: "wait", untilMs, why: "locked" }
      : { kind: "uninstall", record: latest };
  }
  if (latest !== undefined && isAsWanted(latest, desired)) {
    // Such as one whose hub lost what it knew, and was told the same anew.
    return { kind: isSame(latest.owner, desired.owner) ? "none" : "adopt", record: latest };
  }
  if (observed.retryAtMs !== undefined && observed.retryAtMs > nowMs) {
    return { kind: "wait", untilMs: observed.retryAtMs, why: "failed" };
  }
  return { kind: "upgrade", revision: (latest?.revision ?? 0) + 1 };
}

export function isInSync(record: ReleaseRecord, desired: Desired): boolean {
  return isAsWanted(record, desired) && isSame(record.owner, desired.owner);
}

/** Whoever it was made for. */
function isAsWanted(record: ReleaseRecord, desired: Desired): boolean {
  return record.status === "deployed" && record.isOurs && record.digest === desired.digest;
}

/** Whether the run of Helm that holds the release is our own, which nobody carries on. */
function isOwnLock(
  latest: ReleaseRecord,
  desired: Desired,
  interrupted: InterruptedRun | undefined,
): boolean {
  if (interrupted === undefined) return false;
  // Of a run that failed before it made a record there is a note too: then somebody else may hold that revision.
  const isOwnRevision = latest.isOurs && isSame(latest.owner, desired.owner);
  if (latest.revision === interrupted.revision) return isOwnRevision;
  // Helm gives it the labels of the revision that it goes back to, so that only its place tells whose it is.
  return (
    interrupted.rollsBack &&
    latest.status === "pending-rollback" &&
    latest.revision === interrupted.revision + 1
  );
}

function isWanted(record: ReleaseRecord, desired: Desired): boolean {
  return record.namespace === desired.namespace && record.name === desired.name;
}

function isSame(a: DeploymentKey | undefined, b: DeploymentKey): boolean {
  return a?.name === b.name && a.uid === b.uid;
}
