/** How long a key that failed waits: longer with each failure, and no more than so many retries a second over all. */
import type { Clock } from "../../time/clock.ts";
import type { ObjectKey } from "../objects/object.ts";

export interface RateLimits {
  /** After the first failure of a key; doubles with each. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Over all keys. */
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateLimiter {
  /** Counts a failure; gives how long to wait. */
  next(key: ObjectKey): number;
  forget(key: ObjectKey): void;
  retries(key: ObjectKey): number;
}

const defaultLimits: RateLimits = { firstMs: 5, longestMs: 5 * 60_000, perSecond: 10, burst: 100 };

export function createRateLimiter(clock: Clock, limits: RateLimits = defaultLimits): RateLimiter {
  const failures = new Map<ObjectKey, number>();
  const tokenMs = 1000 / limits.perSecond;
  /** When the bucket is full again; each token taken moves it on. */
  let fullAt = Number.NEGATIVE_INFINITY;

  return {
    next(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      const ownMs = Math.min(limits.firstMs * 2 ** count, limits.longestMs);
      const now = clock.monotonic();
      fullAt = Math.max(fullAt, now) + tokenMs;
      const bucketMs = fullAt - now - limits.burst * tokenMs;
      return Math.max(ownMs, bucketMs);
    },
    forget: (key) => void failures.delete(key),
    retries: (key) => failures.get(key) ?? 0,
  };
}
