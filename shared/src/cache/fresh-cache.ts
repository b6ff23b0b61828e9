/** Values that are read again after a while: one read for concurrent callers, and what failed is not kept. */
import type { Clock } from "../time/index.ts";
import { createLruCache } from "./lru-cache.ts";

export interface FreshCache<V> {
  /** Rejects as `read` does. */
  get(key: string, read: () => Promise<V>): Promise<V>;
}

export interface FreshCacheOptions {
  readonly maxEntries: number;
  readonly freshMs: number;
  readonly clock: Clock;
}

interface Kept<V> {
  readonly value: Promise<V>;
  readonly until: number;
}

export function createFreshCache<V>({
  maxEntries,
  freshMs,
  clock,
}: FreshCacheOptions): FreshCache<V> {
  const kept = createLruCache<Kept<V>>(maxEntries);
  return {
    get(key, read) {
      const known = kept.get(key);
      if (known !== undefined && clock.monotonic() < known.until) return known.value;
      const value = read();
      kept.set(key, { value, until: clock.monotonic() + freshMs });
      value.catch(() => kept.delete(key));
      return value;
    },
  };
}
