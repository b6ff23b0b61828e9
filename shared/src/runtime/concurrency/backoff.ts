/** Exponential backoff: the delay before the next attempt doubles with each failure in a row. */

export interface BackoffLimits {
  /** After the first failure. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The delay after `failures` failures in a row, counted from 1; without jitter. Pure. */
export function backoffDelayMs({ firstMs, longestMs }: BackoffLimits, failures: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
}

/** Up to 25% more or less than `delayMs`, so that many clients do not retry at the same moment. `random`: from 0 up to 1. */
export function withJitter(delayMs: number, random: number): number {
  return delayMs * (0.75 + 0.5 * random);
}

/** Counts the failures in a row of one loop. */
export interface Backoff {
  /** Counts a failure; returns the delay before the next attempt, with jitter. */
  next(): number;
  /** To be called after a success. */
  reset(): void;
}

export interface BackoffOptions extends BackoffLimits {
  /** From 0 up to 1. */
  readonly random: () => number;
}

export function createBackoff(options: BackoffOptions): Backoff {
  let failures = 0;
  return {
    next: () => withJitter(backoffDelayMs(options, ++failures), options.random()),
    reset() {
      failures = 0;
    },
  };
}
