/** How long to wait after failures: doubling, with jitter. */
export interface Backoff {
  /** The delay before the next try; each call doubles the one after. */
  next(): number;
  reset(): void;
}

export interface BackoffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Between 0 and 1. */
  readonly random: () => number;
}

/** A quarter more or less, so that many clients do not come back together. */
const jitter = 0.25;

export function createBackoff(options: BackoffOptions): Backoff {
  let delayMs = options.firstMs;
  return {
    next() {
      const current = delayMs;
      delayMs = Math.min(delayMs * 2, options.longestMs);
      return current * (1 - jitter + 2 * jitter * options.random());
    },
    reset() {
      delayMs = options.firstMs;
    },
  };
}
