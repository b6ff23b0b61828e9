/** A number of places for work. Whoever waits for one gets it in the order in which they came. */
export interface Semaphore {
  /** Resolves when a place is free, without taking it. */
  available(): Promise<void>;
  /** Resolves with a place, which is the caller's until `release`. */
  acquire(): Promise<void>;
  release(): void;
}

interface Waiter {
  readonly takes: boolean;
  readonly resolve: () => void;
}

export function createSemaphore(count: number): Semaphore {
  let open = count;
  const waiters: Waiter[] = [];

  function serve(): void {
    while (open > 0) {
      const next = waiters.shift();
      if (next === undefined) return;
      if (next.takes) open -= 1;
      next.resolve();
    }
  }

  function wait(takes: boolean): Promise<void> {
    return new Promise((resolve) => {
      waiters.push({ takes, resolve });
      serve();
    });
  }

  return {
    available: () => wait(false),
    acquire: () => wait(true),
    release() {
      open += 1;
      serve();
    },
  };
}
