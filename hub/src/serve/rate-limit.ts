/** Token buckets by key, for as many keys as are worth remembering. */
import type { Clock } from "@flotilla/shared/time/clock.ts";

export interface RateLimitOptions {
  readonly clock: Clock;
  readonly perSecond: number;
  readonly burst: number;
  /** Keys beyond this many push out those that were used least lately. */
  readonly maxKeys?: number;
}

export interface RateLimit {
  /** Takes tokens, one where nothing else is said; `false`, and none taken, when there are not as many. */
  take(key: string, tokens?: number): boolean;
  /** Whether there is a token, without taking it. */
  has(key: string): boolean;
}

interface Bucket {
  readonly tokens: number;
  /** Monotonic, ms. */
  readonly at: number;
}

export function createRateLimit(options: RateLimitOptions): RateLimit {
  const { clock, perSecond, burst, maxKeys = 10_000 } = options;
  const buckets = new Map<string, Bucket>();

  function tokensOf(key: string): number {
    const bucket = buckets.get(key);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.tokens + ((clock.monotonic() - bucket.at) / 1_000) * perSecond);
  }

  return {
    has: (key) => tokensOf(key) >= 1,
    take(key, wanted = 1) {
      const tokens = tokensOf(key);
      const isGranted = tokens >= wanted;
      buckets.delete(key);
      buckets.set(key, { tokens: isGranted ? tokens - wanted : tokens, at: clock.monotonic() });
      const [oldest] = buckets.keys();
      if (buckets.size > maxKeys && oldest !== undefined) buckets.delete(oldest);
      return isGranted;
    },
  };
}
