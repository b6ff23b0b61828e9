/**
 * Decides the next action for a release in a state. Pure. It is called again after each action, so the agent can continue after
 * a crash at any point.
 */

import { unreachable } from "@flotilla/shared/errors";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { ReleaseRecord } from "../../helm/index.ts";
import type { InventoryRevision, OwnerKey } from "../../state/index.ts";
import {
  type CountedFailures,
  type FailurePolicy,
  failuresOf,
  isExhausted,
} from "./failure-policy.ts";
import type { ReleaseState } from "./release-state.ts";

/** What an action depends on besides the state. */
export interface Circumstances {
  /** The time of the retry after the last failure of this content, ms since 1970. */
  readonly retryAtMs: number | undefined;
  readonly nowMs: number;
  /** How long the newest record has not changed, by the monotonic clock of this process. */
  readonly unchangedMs: number;
  /** After this long without a change, a lock of another client is reported. */
  readonly lockTimeoutMs: number;
  /** A user has requested to continue in spite of the lock. */
  readonly isForced: boolean;
  /** A user has requested an upgrade, whatever the state. */
  readonly mustUpgrade: boolean;
  /** A user has requested to correct all drift, once. */
  readonly mustCorrect: boolean;
  /** What follows a failure of an installation, and of an upgrade. */
  readonly policies: { readonly install: FailurePolicy; readonly upgrade: FailurePolicy };
  /** The attempts at this content that have failed in a row; absent: none. */
  readonly failed?: CountedFailures | undefined;
  /** The revision that a failed upgrade is rolled back to. */
  readonly rollbackTarget: RollbackTarget;
  /** Whether a release may be taken over that others installed. */
  readonly takesOwnership: boolean;
  /** A revision of the agent, as desired, with the same objects and hooks as the newest one, which others created. */
  readonly sameRevision?: InventoryRevision | undefined;
}

/** The newest earlier revision that was deployed and whose tests did not fail. */
export type RollbackTarget =
  | { readonly kind: "found"; readonly record: ReleaseRecord }
  | { readonly kind: "missing" }
  /** Somebody has changed its record. */
  | { readonly kind: "tampered" };

export type Action =
  | { readonly kind: "none"; readonly record: ReleaseRecord }
  | { readonly kind: "upgrade"; readonly revision: number }
  /** Labels the release as this deployment's, without a run of Helm. */
  | { readonly kind: "adopt"; readonly record: ReleaseRecord }
  /** Enters a revision into the inventory that is the same as one of the agent's, without a run of Helm. */
  | {
      readonly kind: "claim";
      readonly record: ReleaseRecord;
      readonly same: InventoryRevision;
    }
  /** Marks the revision as failed. */
  | { readonly kind: "unlock"; readonly record: ReleaseRecord }
  /** `why`: it moves or its uninstall was interrupted, or its installation or upgrade failed. */
  | {
      readonly kind: "uninstall";
      readonly record: ReleaseRecord;
      readonly why: "moved" | "interrupted" | "remediation";
    }
  | { readonly kind: "rollback"; readonly record: ReleaseRecord; readonly target: ReleaseRecord }
  /** Changes the drifted objects back, without Helm. */
  | { readonly kind: "correctDrift"; readonly record: ReleaseRecord }
  /** Runs its tests. */
  | { readonly kind: "test"; readonly record: ReleaseRecord }
  /** Until its objects are ready. */
  | { readonly kind: "await"; readonly record: ReleaseRecord; readonly untilMs: number }
  /** Nothing, until something changes or a user requests it: there are no retries left, or nothing to roll back to. */
  | {
      readonly kind: "stop";
      readonly why: (typeof fluxReason)["retriesExceeded" | "missingRollbackTarget"];
    }
  /** Locked by another Helm client, or failed and to be retried later. */
  | { readonly kind: "wait"; readonly untilMs: number; readonly why: "locked" | "failed" }
  /** Locked by another Helm client, whose record does not change any more: reported. */
  | { readonly kind: "locked"; readonly record: ReleaseRecord }
  /** Reported. */
  | { readonly kind: "conflict"; readonly owner: OwnerKey }
  /** Others installed it: reported. */
  | { readonly kind: "foreign"; readonly record: ReleaseRecord };

/** Helm's own timeout when a release has none. */
export const defaultLockTimeoutMs = 5 * 60_000;

/** An uninstall takes a second or two; an older one was interrupted. */
export const uninstallingMs = 10_000;

export function actionFor(state: ReleaseState, circumstances: Circumstances): Action {
  const { isForced, lockTimeoutMs } = circumstances;
  switch (state.kind) {
    case "conflict":
      return state;
    case "locked":
      if (isForced || state.isOwn) return { kind: "unlock", record: state.record };
      return (
        whileUnchanged(lockTimeoutMs, circumstances) ?? { kind: "locked", record: state.record }
      );
    case "uninstalling":
      // It most likely still runs; a concurrent uninstall or install would result in an undefined state.
      return (
        whileUnchanged(uninstallingMs, circumstances) ?? {
          kind: "uninstall",
          record: state.record,
          why: "interrupted",
        }
      );
    case "moved":
      return { kind: "uninstall", record: state.record, why: "moved" };
    case "adoptable":
      return { kind: "adopt", record: state.record };
    case "inSync":
      return circumstances.mustUpgrade
        ? upgrade(state.record, circumstances)
        : { kind: "none", record: state.record };
    case "drifted": {
      if (circumstances.mustUpgrade) return upgrade(state.record, circumstances);
      // What is only reported, or is to be corrected later, is not an action unless a user requests it.
      const corrects = state.corrects || circumstances.mustCorrect;
      return { kind: corrects ? "correctDrift" : "none", record: state.record };
    }
    case "progressing":
      return { kind: "await", record: state.record, untilMs: state.untilMs };
    case "untested":
      return untilRetry(circumstances) ?? { kind: "test", record: state.record };
    case "failed":
      return actionAfterFailure(state, circumstances);
    case "unmanaged":
      return unmanaged(state, circumstances);
    case "absent":
    case "outOfSync":
      return isSpent(state.kind === "absent" ? "install" : "upgrade", circumstances)
        ? { kind: "stop", why: fluxReason.retriesExceeded }
        : upgrade(state.record, circumstances);
    default:
      return unreachable(state);
  }
}

function unmanaged(
  { record, isForeign }: Extract<ReleaseState, { kind: "unmanaged" }>,
  circumstances: Circumstances,
): Action {
  const { takesOwnership, sameRevision: same, mustUpgrade } = circumstances;
  if (isForeign && !takesOwnership) return { kind: "foreign", record };
  return same === undefined || mustUpgrade
    ? upgrade(record, circumstances)
    : { kind: "claim", record, same };
}

function whileUnchanged(
  limitMs: number,
  { nowMs, unchangedMs }: Circumstances,
): Action | undefined {
  const leftMs = limitMs - unchangedMs;
  return leftMs > 0 ? { kind: "wait", untilMs: nowMs + leftMs, why: "locked" } : undefined;
}

/** Flux's rules: a failure that was not counted is of another content, or of a run that was interrupted. */
function actionAfterFailure(
  { record, what }: Extract<ReleaseState, { kind: "failed" }>,
  circumstances: Circumstances,
): Action {
  const { failed, policies, rollbackTarget, mustUpgrade } = circumstances;
  if (mustUpgrade) return upgrade(record, circumstances);
  const policy = failed && policies[failed.action];
  const count = failed && failuresOf(failed, failed.action);
  const mustTest: Action = { kind: "test", record };
  if (policy === undefined || !count)
    return what === "tests" ? mustTest : upgrade(record, circumstances);
  if (policy.kind === "retry") {
    // Without an option nothing but the tests has to be repeated.
    const repeatsTests = what === "tests" && policy.intervalMs === undefined;
    return repeatsTests ? (untilRetry(circumstances) ?? mustTest) : upgrade(record, circumstances);
  }
  if (what === "tests" && policy.ignoresTests) return untilRetry(circumstances) ?? mustTest;
  if (isExhausted(policy, count) && !policy.remediatesLast)
    return { kind: "stop", why: fluxReason.retriesExceeded };
  const wait = untilRetry(circumstances);
  if (wait !== undefined) return wait;
  if (policy.by === "uninstall") return { kind: "uninstall", record, why: "remediation" };
  switch (rollbackTarget.kind) {
    case "found":
      return { kind: "rollback", record, target: rollbackTarget.record };
    case "missing":
      return { kind: "stop", why: fluxReason.missingRollbackTarget };
    case "tampered":
      return isExhausted(policy, count)
        ? { kind: "stop", why: fluxReason.retriesExceeded }
        : upgrade(record, circumstances);
    default:
      return unreachable(rollbackTarget);
  }
}

function isSpent(
  next: "install" | "upgrade",
  { failed, policies, mustUpgrade }: Circumstances,
): boolean {
  const count = failuresOf(failed, next);
  return !mustUpgrade && count > 0 && isExhausted(policies[next], count);
}

function upgrade(latest: ReleaseRecord | undefined, circumstances: Circumstances): Action {
  return untilRetry(circumstances) ?? { kind: "upgrade", revision: (latest?.revision ?? 0) + 1 };
}

function untilRetry({ retryAtMs, nowMs, mustUpgrade }: Circumstances): Action | undefined {
  return !mustUpgrade && retryAtMs !== undefined && retryAtMs > nowMs
    ? { kind: "wait", untilMs: retryAtMs, why: "failed" }
    : undefined;
}
