/** Conditions and polling of an object, as the dashboard shows them. Pure. */
import type { Condition, ResolutionStatus } from "@flotilla/shared/api";
import type { AppDetail } from "@flotilla/shared/dashboard";

type ShownCondition = AppDetail["conditions"][number];

/** In the order of the status. */
export function shownConditions(conditions: readonly Condition[] | undefined): ShownCondition[] {
  return (conditions ?? []).map(({ type, status, reason, message, lastTransitionTime }) => ({
    type,
    status,
    ...(reason && { reason }),
    ...(message && { message }),
    ...(lastTransitionTime && { since: lastTransitionTime }),
  }));
}

/** `interval`: as in the spec; absent: it is not polled. */
export function shownPolling(
  interval: string | undefined,
  polling: ResolutionStatus | undefined,
  last: string | undefined,
): AppDetail["polling"] {
  const { nextAttemptTime, failures = 0, error } = polling ?? {};
  return {
    ...(interval !== undefined && { interval }),
    ...(last !== undefined && { last }),
    ...(nextAttemptTime !== undefined && { next: nextAttemptTime }),
    failures,
    ...(error !== undefined && { error }),
  };
}
