/** Token buckets: a burst at once, then a steady rate. One for a whole process, or one for each key. */
import type { Clock } from "../time/index.ts";

export interface RateLimits {
  /** How many tokens are added in a second. */
  readonly perSecond: number;
  /** How many tokens a full bucket has. */
  readonly burst: number;
}

export interface TokenBucket {
  /** Whether nothing that was taken is still missing. */
  readonly isFull: boolean;
  /** Takes tokens, by default one; `false`, and none taken, when there are fewer. */
  take(tokens?: number): boolean;
  /** Whether there are as many tokens, without taking them. */
  has(tokens?: number): boolean;
  /** Takes tokens that are not there yet, too; returns how long to wait until they are, ms. */
  reserve(tokens?: number): number;
  /** Gives back tokens that were taken, by default one; a bucket never has more than `burst`. */
  giveBack(tokens?: number): void;
}

export interface TokenBucketOptions extends RateLimits {
  readonly clock: Pick<Clock, "monotonic">;
}

/** For a bucket that was never used. */
const neverUsed = Number.NEGATIVE_INFINITY;
/** Rounding must not cost a token. */
const toleranceMs = 1e-6;

export function createTokenBucket(options: TokenBucketOptions): TokenBucket {
  return new Bucket(options);
}

/** A class, because thousands are kept, and an object with a getter of its own takes several times as much memory. */
class Bucket implements TokenBucket {
  readonly #options: TokenBucketOptions;
  /** A bucket is one number: when it is full again. Each token taken moves it on. */
  #fullAt = neverUsed;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#fullAt <= this.#options.clock.monotonic();
  }

  take(tokens = 1): boolean {
    const { fullAt, waitMs } = this.#taken(tokens);
    if (waitMs > 0) return false;
    this.#fullAt = fullAt;
    return true;
  }

  has(tokens = 1): boolean {
    return this.#taken(tokens).waitMs === 0;
  }

  reserve(tokens = 1): number {
    const { fullAt, waitMs } = this.#taken(tokens);
    this.#fullAt = fullAt;
    return waitMs;
  }

  giveBack(tokens = 1): void {
    this.#fullAt -= (tokens * 1_000) / this.#options.perSecond;
  }

  #taken(tokens: number): TakenTokens {
    return takeTokens(this.#fullAt, this.#options.clock.monotonic(), tokens, this.#options);
  }
}

export interface KeyedRateLimiter {
  /** Takes tokens of a key, by default one; `false`, and none taken, when there are fewer. */
  take(key: string, tokens?: number): boolean;
  /** Whether a key has as many tokens, without taking them. */
  has(key: string, tokens?: number): boolean;
}

export interface KeyedRateLimiterOptions extends TokenBucketOptions {
  /** Beyond this many keys the least recently used are evicted: their buckets are full again. */
  readonly maxKeys?: number;
}

export function createKeyedRateLimiter(options: KeyedRateLimiterOptions): KeyedRateLimiter {
  const { clock, maxKeys = 10_000 } = options;
  /** When the bucket of a key is full again; the least recently used key first. */
  const buckets = new Map<string, number>();

  function taken(key: string, tokens: number): TakenTokens {
    return takeTokens(buckets.get(key) ?? neverUsed, clock.monotonic(), tokens, options);
  }

  return {
    take(key, tokens = 1) {
      const { fullAt, waitMs } = taken(key, tokens);
      const isGranted = waitMs === 0;
      const next = isGranted ? fullAt : (buckets.get(key) ?? neverUsed);
      buckets.delete(key);
      buckets.set(key, next);
      const [oldest] = buckets.keys();
      if (buckets.size > maxKeys && oldest !== undefined) buckets.delete(oldest);
      return isGranted;
    },
    has: (key, tokens = 1) => taken(key, tokens).waitMs === 0,
  };
}

interface TakenTokens {
  readonly fullAt: number;
  /** 0 when the tokens are available. */
  readonly waitMs: number;
}

/** The bucket after tokens were taken of one that is full again at `fullAt`. */
function takeTokens(
  fullAt: number,
  now: number,
  tokens: number,
  { perSecond, burst }: RateLimits,
): TakenTokens {
  const tokenMs = 1_000 / perSecond;
  const next = Math.max(fullAt, now) + tokens * tokenMs;
  const waitMs = next - now - burst * tokenMs;
  return { fullAt: next, waitMs: waitMs <= toleranceMs ? 0 : waitMs };
}
