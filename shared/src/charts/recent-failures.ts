/** Attempts that failed a moment ago: who shares an answer with others shares a failure too, and nobody asks again at once. */
import type { Clock } from "../time/clock.ts";
import { createRecent } from "./recent.ts";

export interface RecentFailures {
  /** Throws what an attempt of this key failed with that was begun since then (monotonic). */
  throwKnown(key: string, since: number | undefined): void;
  /** The task; what it fails with is kept, unless it was given up. */
  watch<T>(key: string, task: (signal: AbortSignal) => Promise<T>): (s: AbortSignal) => Promise<T>;
}

export function createRecentFailures(
  clock: Pick<Clock, "monotonic">,
  maxEntries: number,
): RecentFailures {
  const failures = createRecent<{ readonly error: unknown; readonly askedAt: number }>(maxEntries);
  return {
    throwKnown(key, since) {
      const known = failures.get(key);
      if (known !== undefined && since !== undefined && known.askedAt >= since) throw known.error;
    },
    watch: (key, task) => async (signal) => {
      const askedAt = clock.monotonic();
      try {
        const result = await task(signal);
        failures.delete(key);
        return result;
      } catch (error) {
        if (!signal.aborted) failures.set(key, { error, askedAt });
        throw error;
      }
    },
  };
}
