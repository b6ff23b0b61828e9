/** When the repositories of a HelmOp are asked again after an attempt. Pure. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { type PollHistory, planPoll } from "./polling.ts";
import type { ChartResolution } from "./resolve-charts.ts";

/** A HelmOp that has no pin at all is tried again after one second, doubling up to five minutes. */
const firstRetryMs = 1_000;
const longestRetryMs = 5 * 60_000;

/** Milliseconds until then; undefined when nothing is asked before something changes. */
export function nextAttemptMs(
  helmOp: HelmOp,
  { failure }: Pick<ChartResolution, "failure">,
  history: PollHistory,
  nowMs: number,
): number | undefined {
  if (failure !== undefined && !failure.isPinned) {
    const backoff = Math.min(
      longestRetryMs,
      firstRetryMs * 2 ** Math.min(history.failures - 1, 10),
    );
    return failure.error.retryable ? backoff : undefined;
  }
  const plan = planPoll(helmOp, history, nowMs);
  switch (plan.kind) {
    case "off":
      return undefined;
    case "due":
      return 0;
    case "later":
      return plan.inMs;
  }
}
