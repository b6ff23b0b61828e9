/** How long a key that failed waits for its retry: exponential backoff for each key, and one token bucket for all of them. */
import {
  type BackoffLimits,
  backoffDelayMs,
  createTokenBucket,
  type RateLimits,
} from "../../runtime/concurrency/index.ts";
import type { Clock } from "../../runtime/time/index.ts";
import type { ObjectKey } from "../objects/index.ts";

export interface RetryLimits {
  /** For each key. */
  readonly backoff: BackoffLimits;
  /** For the retries of all keys together. */
  readonly overall: RateLimits;
}

/** client-go's `RateLimiter`: When, Forget, NumRequeues. */
export interface RetryRateLimiter {
  /** Counts a failure; returns the delay before the retry, ms. */
  next(key: ObjectKey): number;
  forget(key: ObjectKey): void;
  /** Failures since the key was last forgotten. */
  retries(key: ObjectKey): number;
}

const defaultLimits: RetryLimits = {
  backoff: { firstMs: 5, longestMs: 5 * 60_000 },
  overall: { perSecond: 10, burst: 100 },
};

export function createRetryRateLimiter(
  clock: Clock,
  limits: RetryLimits = defaultLimits,
): RetryRateLimiter {
  const failures = new Map<ObjectKey, number>();
  const bucket = createTokenBucket({ clock, ...limits.overall });
  return {
    next(key) {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      return Math.max(backoffDelayMs(limits.backoff, count), bucket.reserve());
    },
    forget: (key) => void failures.delete(key),
    retries: (key) => failures.get(key) ?? 0,
  };
}
