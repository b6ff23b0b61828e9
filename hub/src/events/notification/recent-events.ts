/** Which events were there a short time ago, so that a repeated one is not sent again. In memory, as in Flux. */
import type { Clock } from "@flotilla/shared/time";

/** Flux's `--rate-limit-interval`. */
export const repeatedMs = 5 * 60_000;

const maxKept = 10_000;

export type RecentEvents = ReturnType<typeof createRecentEvents>;

export function createRecentEvents(clock: Pick<Clock, "monotonic">) {
  /** When each was first seen; the oldest first. */
  const seen = new Map<string, number>();
  return {
    /** Whether the event is new; counts it. */
    isNew(key: string): boolean {
      const now = clock.monotonic();
      for (const [oldest, at] of seen) {
        if (seen.size <= maxKept && now - at < repeatedMs) break;
        seen.delete(oldest);
      }
      if (seen.has(key)) return false;
      seen.set(key, now);
      return true;
    },
  };
}
