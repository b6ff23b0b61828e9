/** Callers who want the same thing at the same time share one attempt. It is given up when the last of them has left. */

export interface SingleFlight<T> {
  /** Joins the attempt of this key, or begins one. */
  run(key: string, task: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

interface Attempt<T> {
  readonly result: Promise<T>;
  readonly giveUp: AbortController;
  waiting: number;
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const attempts = new Map<string, Attempt<T>>();

  function begin(key: string, task: (signal: AbortSignal) => Promise<T>): Attempt<T> {
    const giveUp = new AbortController();
    const result = task(giveUp.signal).finally(() => {
      if (attempts.get(key)?.giveUp === giveUp) attempts.delete(key);
    });
    // Everybody may have left before it fails; then nobody is there to be told.
    result.catch(() => undefined);
    const attempt = { result, giveUp, waiting: 0 };
    attempts.set(key, attempt);
    return attempt;
  }

  return {
    async run(key, task, signal) {
      signal?.throwIfAborted();
      const attempt = attempts.get(key) ?? begin(key, task);
      attempt.waiting++;
      const left = Promise.withResolvers<never>();
      const leave = (): void => left.reject(asError(signal?.reason));
      signal?.addEventListener("abort", leave, { once: true });
      try {
        return await Promise.race([attempt.result, left.promise]);
      } finally {
        signal?.removeEventListener("abort", leave);
        attempt.waiting--;
        if (attempt.waiting === 0) {
          if (attempts.get(key) === attempt) attempts.delete(key);
          attempt.giveUp.abort();
        }
      }
    },
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
