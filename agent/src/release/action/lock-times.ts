/** How long locked releases have not changed, by the monotonic clock of this process: other machines' clocks may differ. */
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import { type Clock, formatGoDuration, formatTime } from "@flotilla/shared/time";
import { agentErrors } from "../../base/errors/index.ts";
import { type ReleaseRecord, upgradeOptions } from "../../helm/index.ts";
import { defaultLockTimeoutMs } from "../state/action.ts";

export interface LockTimes {
  /** Since this process observed the record in this state; 0 when it has just changed. */
  unchangedMs(record: ReleaseRecord): number;
  /** The release is not locked any more. */
  forget(release: { readonly namespace: string; readonly name: string }): void;
}

export function createLockTimes(clock: Pick<Clock, "monotonic">): LockTimes {
  const observed = new Map<string, { readonly state: string; readonly sinceMs: number }>();
  return {
    unchangedMs({ namespace, name, revision, status, modifiedAtMs, version }) {
      const key = `${namespace}/${name}`;
      const state = [revision, status, version ?? modifiedAtMs].join(" ");
      const known = observed.get(key);
      const nowMs = clock.monotonic();
      if (known?.state === state) return nowMs - known.sinceMs;
      observed.set(key, { state, sinceMs: nowMs });
      return 0;
    },
    forget: ({ namespace, name }) => void observed.delete(`${namespace}/${name}`),
  };
}

/** After this long without a change, a lock of another Helm client is reported. */
export function lockTimeoutMs(content: DeploymentContent): number {
  const { timeoutSeconds } = upgradeOptions(content, false);
  return timeoutSeconds > 0 ? timeoutSeconds * 1_000 : defaultLockTimeoutMs;
}

/** `unchangedMs`: absent while the record may still change. */
export function lockedError(record: ReleaseRecord, unchangedMs?: number): AppError {
  const { namespace, name, revision, status, modifiedAtMs } = record;
  return new AppError(
    agentErrors.RELEASE_LOCKED,
    `release ${namespace}/${name} is locked by another Helm client: revision ${revision} is ${status} since ${formatTime(modifiedAtMs)}${
      unchangedMs === undefined
        ? ""
        : `, and has not changed for ${formatGoDuration(unchangedMs)}. Nothing was changed; the agent continues when the record changes. If no Helm client runs, change forceSyncGeneration of the HelmOp, or request it with the annotation reconcile.fluxcd.io/forceAt, to unlock the release`
    }`,
  );
}
