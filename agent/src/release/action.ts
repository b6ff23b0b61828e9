/**
 * Decides the next action for a release in a state. Pure. It is called again after each action, so the agent can continue after
 * a crash at any point.
 */
import type { DeploymentKey } from "@flotilla/proto";
import { unreachable } from "@flotilla/shared/errors";
import type { ReleaseRecord } from "../helm/index.ts";
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
}

export type Action =
  | { readonly kind: "none"; readonly record: ReleaseRecord }
  | { readonly kind: "upgrade"; readonly revision: number }
  /** Labels the release as this deployment's, without a run of Helm. */
  | { readonly kind: "adopt"; readonly record: ReleaseRecord }
  /** Marks the revision as failed. */
  | { readonly kind: "unlock"; readonly record: ReleaseRecord }
  | { readonly kind: "uninstall"; readonly record: ReleaseRecord }
  /** Locked by another Helm client, or failed and to be retried later. */
  | { readonly kind: "wait"; readonly untilMs: number; readonly why: "locked" | "failed" }
  /** Locked by another Helm client, whose record does not change any more: reported. */
  | { readonly kind: "locked"; readonly record: ReleaseRecord }
  /** Reported. */
  | { readonly kind: "conflict"; readonly owner: DeploymentKey };

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
        whileUnchanged(uninstallingMs, circumstances) ?? { kind: "uninstall", record: state.record }
      );
    case "moved":
      return { kind: "uninstall", record: state.record };
    case "adoptable":
      return { kind: "adopt", record: state.record };
    case "inSync":
      return { kind: "none", record: state.record };
    case "absent":
    case "unmanaged":
    case "failed":
    case "outOfSync":
      return upgrade(state.record, circumstances);
    default:
      return unreachable(state);
  }
}

function whileUnchanged(
  limitMs: number,
  { nowMs, unchangedMs }: Circumstances,
): Action | undefined {
  const leftMs = limitMs - unchangedMs;
  return leftMs > 0 ? { kind: "wait", untilMs: nowMs + leftMs, why: "locked" } : undefined;
}

function upgrade(latest: ReleaseRecord | undefined, { retryAtMs, nowMs }: Circumstances): Action {
  return retryAtMs !== undefined && retryAtMs > nowMs
    ? { kind: "wait", untilMs: retryAtMs, why: "failed" }
    : { kind: "upgrade", revision: (latest?.revision ?? 0) + 1 };
}
