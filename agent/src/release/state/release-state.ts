/**
 * Determines the state of a release, from Helm's storage and the desired release. Pure. The states are the ones of Flux's
 * HelmRelease, and the ones of a release that moves or that others have.
 */
import type { DeploymentKey } from "@flotilla/proto";
import { isLocked, type ReleaseRecord } from "../../helm/index.ts";
import type { OwnerKey, ReleaseOwner } from "../../state/index.ts";

export interface Desired {
  readonly owner: ReleaseOwner;
  readonly namespace: string;
  readonly name: string;
  /** The release digest of the content. */
  readonly digest: string;
  /** How the chart's tests count; absent: they do not run. */
  readonly tests?: "required" | "ignored" | undefined;
}

/** What came of the tests of a revision. */
export type TestResult = "passed" | "failed";

/** The time until which the objects of a revision must be ready. */
export interface ReadinessDeadline {
  readonly revision: number;
  /** ms since 1970. */
  readonly untilMs: number;
  /** It rolled back a failed upgrade to the desired content: the release is not upgraded again before its end. */
  readonly isRollback: boolean;
}

/** A Helm run of the agent that was interrupted. */
export interface InterruptedRun {
  /** The revision that it was creating. */
  readonly revision: number;
  /** Helm creates another revision when it fails, to roll back. */
  readonly rollsBack: boolean;
  /** It rolls back to this revision, whose labels Helm copies. */
  readonly target?: number | undefined;
}

export interface ObservedDrift {
  /** Some of it is to be corrected now. */
  readonly corrects: boolean;
}

export interface Observed {
  /** The newest record of the desired release. */
  readonly latest: ReleaseRecord | undefined;
  /** The newest records of all that was installed as this release, with any name. */
  readonly owned: readonly ReleaseRecord[];
  /** The run that was interrupted, if any. */
  readonly interruptedRun: InterruptedRun | undefined;
  /** What the agent waits for. */
  readonly deadline: ReadinessDeadline | undefined;
  /** The tests of a revision; undefined: they have not run. */
  readonly testsOf: (record: ReleaseRecord) => TestResult | undefined;
  /** Undefined: its objects have no drift, or nothing is known of it. */
  readonly drift?: ObservedDrift | undefined;
  /** Whether this release of this deployment is assigned to this cluster. */
  readonly isAssigned: (owner: OwnerKey) => boolean;
}

/** `record`: the newest of the release, unless said otherwise. */
export type ReleaseState =
  /** Another assigned deployment has the release. */
  | { readonly kind: "conflict"; readonly owner: OwnerKey }
  /** Pending: Helm changes it. `isOwn`: an interrupted run of the agent did. */
  | { readonly kind: "locked"; readonly record: ReleaseRecord; readonly isOwn: boolean }
  /** The deployment still has a release under an earlier name or in an earlier namespace: `record`. */
  | { readonly kind: "moved"; readonly record: ReleaseRecord }
  /** Helm uninstalls it, or was interrupted. */
  | { readonly kind: "uninstalling"; readonly record: ReleaseRecord }
  /** There is none, or it was uninstalled with its history kept. */
  | { readonly kind: "absent"; readonly record: ReleaseRecord | undefined }
  /**
   * The newest revision is not one that the agent created: somebody ran Helm by hand, or changed the record. `isForeign`: nor is
   * any other one, as far as is known.
   */
  | { readonly kind: "unmanaged"; readonly record: ReleaseRecord; readonly isForeign: boolean }
  /** The agent's last run failed, or its tests. */
  | { readonly kind: "failed"; readonly record: ReleaseRecord; readonly what: "release" | "tests" }
  /** Its chart or values are not the desired ones. */
  | { readonly kind: "outOfSync"; readonly record: ReleaseRecord }
  /** Its objects are not ready yet, and the agent waits for them. */
  | { readonly kind: "progressing"; readonly record: ReleaseRecord; readonly untilMs: number }
  /** As desired, and its tests have not run. */
  | { readonly kind: "untested"; readonly record: ReleaseRecord }
  /**
   * As desired, but installed for a deployment that is not assigned any more: the hub has lost its data, and the same HelmOp was
   * created again.
   */
  | { readonly kind: "adoptable"; readonly record: ReleaseRecord }
  /** As desired by Helm's storage, but others have changed its objects. */
  | { readonly kind: "drifted"; readonly record: ReleaseRecord; readonly corrects: boolean }
  | { readonly kind: "inSync"; readonly record: ReleaseRecord };

export function determineState(desired: Desired, observed: Observed): ReleaseState {
  const { latest, owned, interruptedRun, isAssigned } = observed;
  const owner = latest?.status === "uninstalled" ? undefined : latest?.owner;
  if (owner !== undefined && !isSame(owner, desired.owner) && isAssigned(owner))
    return { kind: "conflict", owner };
  if (latest !== undefined && isLocked(latest)) {
    const isOwn = isOwnLock(latest, desired.owner, interruptedRun);
    return { kind: "locked", record: latest, isOwn };
  }
  const moved = owned.find(
    (record) =>
      isSame(record.owner, desired.owner) &&
      !isDesired(record, desired) &&
      record.status !== "uninstalled",
  );
  if (moved !== undefined) return { kind: "moved", record: moved };
  if (latest === undefined || latest.status === "uninstalled")
    return { kind: "absent", record: latest };
  return settledState(latest, desired, observed);
}

/** The state of a release that nothing changes now. */
function settledState(
  record: ReleaseRecord,
  desired: Desired,
  { deadline, testsOf, drift }: Observed,
): ReleaseState {
  const kind = stateOf(record, desired);
  if (kind === "unmanaged") return { kind, record, isForeign: isForeign(record, desired.owner) };
  if (kind === "failed") return { kind, record, what: "release" };
  const isAwaited = deadline?.revision === record.revision && record.status === "deployed";
  if (isAwaited && (kind === "inSync" || (kind === "outOfSync" && deadline.isRollback)))
    return { kind: "progressing", record, untilMs: deadline.untilMs };
  if (kind !== "inSync") return { kind, record };
  const tests = testsOf(record);
  if (desired.tests !== undefined && tests === undefined) return { kind: "untested", record };
  if (desired.tests === "required" && tests === "failed")
    return { kind: "failed", record, what: "tests" };
  return drift === undefined
    ? { kind, record }
    : { kind: "drifted", record, corrects: drift.corrects };
}

export function isInSync(record: ReleaseRecord, desired: Desired): boolean {
  return stateOf(record, desired) === "inSync";
}

function stateOf(record: ReleaseRecord, desired: Desired) {
  const { status, isOwn, digest } = record;
  if (status === "uninstalling") return "uninstalling";
  if (!isOwn) return "unmanaged";
  if (status === "failed") return "failed";
  if (status !== "deployed" || digest !== desired.digest) return "outOfSync";
  return isSame(record.owner, desired.owner) ? "inSync" : "adoptable";
}

/** The labels only add to what the inventory knows: what they name is reconciled, and its objects are still checked. */
function isForeign({ owner, labelled }: ReleaseRecord, desired: DeploymentKey): boolean {
  return owner === undefined && !isDeployment(labelled, desired);
}

/** Whether the lock is of an interrupted run of the agent. */
export function isOwnLock(
  latest: ReleaseRecord,
  owner: ReleaseOwner,
  interrupted: InterruptedRun | undefined,
): boolean {
  // A run that failed before it wrote a record is in the inventory, too; then the revision may be of another Helm client.
  const isLabelled = isDeployment(latest.labelled, owner);
  // Without the run, labels count for a release that is the deployment's by the inventory.
  if (isLabelled && isSame(latest.owner, owner)) return true;
  if (interrupted === undefined) return false;
  if (latest.revision === interrupted.revision)
    return isLabelled || (interrupted.target !== undefined && latest.status === "pending-rollback");
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

function isSame(a: OwnerKey | undefined, b: OwnerKey): boolean {
  return a?.id === b.id && a.uid === b.uid;
}

/** Labels name the deployment alone. */
function isDeployment(labelled: DeploymentKey | undefined, owner: DeploymentKey): boolean {
  return labelled?.name === owner.name && labelled.uid === owner.uid;
}
