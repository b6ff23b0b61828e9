/** When the repositories of a HelmOp are asked again after an attempt. Pure. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { RepositoryError } from "@flotilla/shared/source/errors.ts";
import { type Moment, type PollHistory, planPoll, retryMs } from "./polling.ts";
import type { ChartResolution } from "./resolve-charts.ts";

/** However long a repository asks to be left alone, it is asked again after this. */
const longestAskedMs = 60 * 60_000;

/** Until when the repository asked to be left alone by its answer (Retry-After), ms since 1970; undefined: it did not. */
export function notBeforeMs(
  failure: ChartResolution["failure"],
  nowMs: number,
): number | undefined {
  const error = failure?.error;
  return error instanceof RepositoryError && error.retryAfterMs !== undefined
    ? nowMs + Math.min(error.retryAfterMs, longestAskedMs)
    : undefined;
}

export interface LastAttempt extends PollHistory {
  readonly failure: ChartResolution["failure"];
  /** It was made because somebody asked for it. */
  readonly isAsked: boolean;
}

/** Milliseconds until then; undefined when nothing is asked before something changes. */
export function nextAttemptMs(
  helmOp: HelmOp,
  last: LastAttempt,
  moment: Moment,
): number | undefined {
  const { failure, isAsked } = last;
  if (failure !== undefined && (isAsked || !failure.isPinned)) {
    if (failure.error.retryable)
      return Math.max(retryMs(last.failures), (last.notBeforeMs ?? 0) - moment.nowMs);
    if (!failure.isPinned) return undefined;
  }
  const plan = planPoll(helmOp, last, moment);
  switch (plan.kind) {
    case "off":
      return undefined;
    case "due":
      return 0;
    case "later":
      return plan.inMs;
  }
}
