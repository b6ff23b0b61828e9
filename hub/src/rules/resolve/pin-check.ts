/**
 * Pins that an agent cannot fetch: the source is read again, since its index may have been corrected. The source is
 * read with backoff, independent of the number of failing agents. Pure.
 */

import type { BundleDeployment, PinCheck } from "@flotilla/shared/api";
import { backoffDelayMs } from "@flotilla/shared/concurrency";
import { findCondition } from "@flotilla/shared/conditions";
import type { AppError } from "@flotilla/shared/errors";
import type { Change } from "@flotilla/shared/kube/cache";
import { archiveDigest, type Pin } from "@flotilla/shared/source";
import { formatTimeMs } from "@flotilla/shared/time";
import { chartNotFetched } from "../summary/deployment-state.ts";

/** A little less than an agent waits before it retries. */
const checkBackoff = { firstMs: 4_000, longestMs: 5 * 60_000 };

/** Whether the agent cannot fetch the chart of the content that the BundleDeployment names now. */
export function isFetchFailing({ metadata, status }: BundleDeployment): boolean {
  const deployed = findCondition(status?.conditions, "Deployed");
  return (
    deployed?.status === "False" &&
    deployed.reason === chartNotFetched &&
    deployed.observedGeneration === metadata.generation
  );
}

/** Predicate: an agent has become unable to fetch the chart, or can fetch it again. */
export function isFetchFailureChange({ before, after }: Change<BundleDeployment>): boolean {
  const [failed, fails] = [before, after].map((one) => one !== undefined && isFetchFailing(one));
  return failed !== fails;
}

/** Whether a deployment has installed exactly this archive, or may have. */
export function isRunByAny(deployments: readonly BundleDeployment[], pin: Pin): boolean {
  const digest = archiveDigest(pin);
  return digest === undefined || deployments.some(({ status }) => status?.chartDigest === digest);
}

export function isCheckDue(last: PinCheck | undefined, nowMs: number): boolean {
  return nextCheckMs(last, nowMs) <= 0;
}

/** Milliseconds until the source may be read again; at most the longest delay, whatever the clock was. */
export function nextCheckMs(last: PinCheck | undefined, nowMs: number): number {
  if (last === undefined) return 0;
  const delayMs = backoffDelayMs(checkBackoff, last.count);
  return Math.min(delayMs, Date.parse(last.time) + delayMs - nowMs);
}

export function pinCheckAfter(
  last: PinCheck | undefined,
  startedAtMs: number,
  error: AppError | undefined,
): PinCheck {
  return {
    time: formatTimeMs(startedAtMs),
    count: (last?.count ?? 0) + 1,
    ...(error !== undefined && { error: error.message }),
  };
}
