/** How long to wait before the next try: doubling, with jitter, so that a fleet does not come back all at once. Pure. */

export interface BackoffBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

export const reconnectBackoff: BackoffBounds = { firstMs: 500, longestMs: 30_000 };

/** `failures`: how many tries in a row have failed, from 1. `random`: from 0 up to 1. */
export function backoffMs(bounds: BackoffBounds, failures: number, random: number): number {
  const full = Math.min(bounds.longestMs, bounds.firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(full * (0.5 + random / 2));
}
