/** Requests by annotation. Each value that was not handled yet is one request; the status has the one handled last. */
import type { HelmOpStatus } from "@flotilla/shared/api";
import { pollRequestAnnotation, requestTokens } from "@flotilla/shared/api/names";
import { createLruCache } from "@flotilla/shared/cache";
import type { Clock } from "@flotilla/shared/time";
import type { PlannedRelease } from "../frontend/planned-release.ts";
import { pollingIntervalMs } from "./polling.ts";

/** The values of the annotations that were handled last. */
export interface HandledRequests {
  readonly reconcile?: string;
  readonly poll?: string;
}

export interface Requests {
  /** A user requests it: all charts are resolved again, and the result is pinned. */
  readonly reconcile?: string;
  /** A chart was pushed: a poll is due. */
  readonly poll?: string;
}

/** Requests that were not handled yet. Requests for a suspended release stay open until it is resumed. */
export function openRequests(release: PlannedRelease, handled: HandledRequests): Requests {
  if (release.spec.suspend === true) return {};
  const { reconcile, poll } = requestedOf(release);
  return {
    ...(reconcile !== undefined && reconcile !== handled.reconcile && { reconcile }),
    ...(poll !== undefined &&
      poll !== handled.poll &&
      pollingIntervalMs(release) !== undefined && { poll }),
  };
}

/** The values that were handled last, from the status of a HelmOp or a Bundle. */
export function handledOf(
  status: Pick<HelmOpStatus, "lastHandledReconcileAt" | "lastHandledPollRequest"> | undefined,
): HandledRequests {
  const { lastHandledReconcileAt, lastHandledPollRequest } = status ?? {};
  return {
    ...(lastHandledReconcileAt !== undefined && { reconcile: lastHandledReconcileAt }),
    ...(lastHandledPollRequest !== undefined && { poll: lastHandledPollRequest }),
  };
}

function requestedOf({ metadata }: PlannedRelease): Requests {
  const reconcile = requestTokens(metadata).requestedAt ?? "";
  const poll = metadata.annotations?.[pollRequestAnnotation] ?? "";
  return { ...(reconcile !== "" && { reconcile }), ...(poll !== "" && { poll }) };
}

/** A request that is older than this is another one, though the value is the same. */
const longestMs = 10_000;
const keptRequests = 256;

/**
 * When each request was first seen, on the monotonic clock. One value is often set on many HelmOps at once: all of them
 * accept the response that the first one gets. A cache: without it one more request is made.
 */
export function createRequestTimes(clock: Pick<Clock, "monotonic">): (value: string) => number {
  const seenAt = createLruCache<number>(keptRequests);
  return (value) => {
    const now = clock.monotonic();
    const known = seenAt.get(value);
    if (known !== undefined && now - known <= longestMs) return known;
    seenAt.set(value, now);
    return now;
  };
}
