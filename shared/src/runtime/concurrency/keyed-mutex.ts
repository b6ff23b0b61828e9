/** Mutual exclusion by key: work on one key runs one after the other, in order; work on different keys runs in parallel. */

export interface KeyedMutex {
  /** Runs `work` once all work that was queued for the key before has ended, well or not; returns its result. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** The result of the work that was queued last for the key; `undefined` when none is queued or running. */
  last(key: string): Promise<unknown> | undefined;
  /** Resolves when nothing is queued or running. */
  idle(): Promise<void>;
}

export function createKeyedMutex(): KeyedMutex {
  const lasts = new Map<string, Promise<unknown>>();
  return {
    run(key, work) {
      const before = lasts.get(key);
      const result = (before ?? Promise.resolve()).then(work, work);
      const cleanUp = (): void => {
        if (lasts.get(key) === result) lasts.delete(key);
      };
      lasts.set(key, result);
      result.then(cleanUp, cleanUp);
      return result;
    },
    last: (key) => lasts.get(key),
    async idle() {
      while (lasts.size > 0) await Promise.allSettled(lasts.values());
    },
  };
}
