/** A bounded cache that evicts the least recently used entry first. */

export interface LruCache<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  clear(): void;
}

export interface WeightLimit<V> {
  readonly maxWeight: number;
  readonly weightOf: (value: V) => number;
}

/** The last value that was set is kept, even if it alone has more than the greatest weight. */
export function createLruCache<V>(maxEntries: number, limit?: WeightLimit<V>): LruCache<V> {
  // A Map keeps the order of insertion; an entry that is used is inserted again.
  const entries = new Map<string, V>();

  function isOver(): boolean {
    if (entries.size > maxEntries) return true;
    if (limit === undefined || entries.size < 2) return false;
    const weight = [...entries.values()].reduce((sum, value) => sum + limit.weightOf(value), 0);
    return weight > limit.maxWeight;
  }

  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      for (const oldest of entries.keys()) {
        if (!isOver()) return;
        entries.delete(oldest);
      }
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}
