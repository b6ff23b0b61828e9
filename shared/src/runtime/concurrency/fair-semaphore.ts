/**
 * Limits what is in use at the same time, of which each piece of work takes a part: bytes, or places. It is fair between
 * callers: those that wait are served in turn, and one alone never gets more than its share.
 */
export interface FairSemaphore {
  /**
   * Runs `work` with `weight` of the capacity; more than the share of a caller counts as the share. Rejects when `signal` aborts
   * while it waits.
   */
  run<T>(request: FairRequest, work: () => Promise<T>): Promise<T>;
  /**
   * Takes `weight` of the capacity at once, for as long as the function that it returns was not called, which is to be called
   * once; undefined: the caller, or all, have as much as they may have, or others wait.
   */
  tryTake(request: Omit<FairRequest, "signal">): (() => void) | undefined;
}

export interface FairRequest {
  readonly caller: string;
  /** Default: 1. */
  readonly weight?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface FairLimits {
  readonly capacity: number;
  /** The share of one caller. */
  readonly share: number;
}

interface Waiter {
  readonly weight: number;
  readonly start: () => void;
}

export function createFairSemaphore({ capacity, share }: FairLimits): FairSemaphore {
  /** A caller that was served moves to the end. */
  const waiting = new Map<string, Set<Waiter>>();
  const used = new Map<string, number>();
  let total = 0;

  function take(caller: string, weight: number): void {
    total += weight;
    const next = (used.get(caller) ?? 0) + weight;
    if (next > 0) used.set(caller, next);
    else used.delete(caller);
  }

  /** The next to be served; undefined: nobody may be now. */
  function next(): { readonly caller: string; readonly waiter: Waiter } | undefined {
    for (const [caller, waiters] of waiting) {
      const [waiter] = waiters;
      if (waiter === undefined || (used.get(caller) ?? 0) + waiter.weight > share) continue;
      // Others do not overtake it: they would keep it waiting for ever.
      return total + waiter.weight > capacity ? undefined : { caller, waiter };
    }
    return undefined;
  }

  function serve(): void {
    for (let found = next(); found !== undefined; found = next()) {
      const { caller, waiter } = found;
      const waiters = remove(caller, waiter);
      if (waiters !== undefined && waiters.size > 0) {
        waiting.delete(caller);
        waiting.set(caller, waiters);
      }
      take(caller, waiter.weight);
      waiter.start();
    }
  }

  function remove(caller: string, waiter: Waiter): Set<Waiter> | undefined {
    const waiters = waiting.get(caller);
    waiters?.delete(waiter);
    if (waiters?.size === 0) waiting.delete(caller);
    return waiters;
  }

  function acquire(caller: string, weight: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const waiter: Waiter = {
        weight,
        start() {
          signal?.removeEventListener("abort", cancel);
          resolve();
        },
      };
      function cancel(): void {
        remove(caller, waiter);
        reject(signal?.reason as Error);
        serve();
      }
      signal?.addEventListener("abort", cancel, { once: true });
      waiting.set(caller, (waiting.get(caller) ?? new Set()).add(waiter));
      serve();
    });
  }

  return {
    tryTake({ caller, weight = 1 }) {
      const part = Math.min(weight, share, capacity);
      const isFree = total + part <= capacity && (used.get(caller) ?? 0) + part <= share;
      if (!isFree || waiting.size > 0) return undefined;
      take(caller, part);
      return () => {
        take(caller, -part);
        serve();
      };
    },
    async run({ caller, weight = 1, signal }, work) {
      const part = Math.min(weight, share, capacity);
      await acquire(caller, part, signal);
      try {
        return await work();
      } finally {
        take(caller, -part);
        serve();
      }
    },
  };
}
