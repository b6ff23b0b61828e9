/** Values that are read again after a while: one read for concurrent callers, and what failed is not kept. */
import type { Clock } from "../time/index.ts";
import { createLruCache } from "./lru-cache.ts";

export interface FreshCache<V> {
  /** Whether `get` would read nothing. */
  has(key: string): boolean;
  /** Rejects as `read` does. */
  get(key: string, read: () => Promise<V>): Promise<V>;
}

export interface FreshCacheOptions<V> {
  readonly maxEntries: number;
  /** From the begin of the read; by the value: from its end. */
  readonly freshMs: number | ((value: V) => number);
  readonly clock: Clock;
}

interface Kept<V> {
  readonly value: Promise<V>;
  until: number;
}

export function createFreshCache<V>({
  maxEntries,
  freshMs,
  clock,
}: FreshCacheOptions<V>): FreshCache<V> {
  const kept = createLruCache<Kept<V>>(maxEntries);
  function fresh(key: string): Kept<V> | undefined {
    const known = kept.get(key);
    return known !== undefined && clock.monotonic() < known.until ? known : undefined;
  }

  return {
    has: (key) => fresh(key) !== undefined,
    get(key, read) {
      const known = fresh(key);
      if (known !== undefined) return known.value;
      const value = read();
      const isByValue = typeof freshMs === "function";
      const until = isByValue ? Number.POSITIVE_INFINITY : clock.monotonic() + freshMs;
      const entry: Kept<V> = { value, until };
      kept.set(key, entry);
      value.then(
        (result) => {
          if (isByValue) entry.until = clock.monotonic() + freshMs(result);
        },
        () => kept.delete(key),
      );
      return value;
    },
  };
}
