/** Who waits for a list that is begun after they asked for it. */

export interface Refreshes {
  /** Resolves once such a list was taken, or when `signal` aborts. */
  ask(signal: AbortSignal): Promise<void>;
  /** Aborts when somebody asks from now on. */
  untilAsked(): AbortSignal;
  /** A list is begun: gives what tells that it was taken. */
  begin(): () => void;
}

export function createRefreshes(): Refreshes {
  const waiting = new Set<() => void>();
  let asked = new AbortController();
  return {
    ask(signal) {
      if (signal.aborted) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const serve = (): void => {
        waiting.delete(serve);
        signal.removeEventListener("abort", serve);
        resolve();
      };
      waiting.add(serve);
      signal.addEventListener("abort", serve);
      const before = asked;
      asked = new AbortController();
      before.abort();
      return promise;
    },
    untilAsked: () => asked.signal,
    begin() {
      const served = [...waiting];
      return () => {
        for (const serve of served) serve();
      };
    },
  };
}
