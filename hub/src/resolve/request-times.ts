/**
 * When each request was first seen. One value is often set on many HelmOps at once; whoever asks on that occasion
 * shares what the first of them got. By our own clock, since whoever sets a value has another one.
 */
import { createLruCache } from "@flotilla/shared/cache/lru-cache.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";

export interface Occasions {
  /** When the value was first seen, on the monotonic clock; now for a new one. */
  since(value: string): number;
}

/** The same value after this long is another occasion: something may have been published in between. */
const longestMs = 10_000;
const kept = 256;

export function createOccasions(clock: Pick<Clock, "monotonic">): Occasions {
  const seenAt = createLruCache<number>(kept);
  return {
    since(value) {
      const now = clock.monotonic();
      const known = seenAt.get(value);
      if (known !== undefined && now - known <= longestMs) return known;
      seenAt.set(value, now);
      return now;
    },
  };
}
