/** Callers that wait for a list that starts after their request. */

export interface Relists {
  /** Resolves once such a list is in the store, or when `signal` aborts. */
  request(signal: AbortSignal): Promise<void>;
  /** Aborts at the next request. */
  requested(): AbortSignal;
  /** To be called when a list starts; returns the function to call when its objects are in the store. */
  start(): () => void;
}

export function createRelists(): Relists {
  const waiting = new Set<() => void>();
  let requested = new AbortController();
  return {
    request(signal) {
      if (signal.aborted) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const finish = (): void => {
        waiting.delete(finish);
        signal.removeEventListener("abort", finish);
        resolve();
      };
      waiting.add(finish);
      signal.addEventListener("abort", finish);
      const previous = requested;
      requested = new AbortController();
      previous.abort();
      return promise;
    },
    requested: () => requested.signal,
    start() {
      const served = [...waiting];
      return () => {
        for (const finish of served) finish();
      };
    },
  };
}
