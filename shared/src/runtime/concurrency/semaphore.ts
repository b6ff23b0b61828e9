/** Limits how much runs at the same time. Permits are acquired in the order of the calls. */
export interface Semaphore {
  /** Resolves with a permit, which is the caller's until `release`. */
  acquire(): Promise<void>;
  release(): void;
  /** Runs `work` with a permit. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when there is a permit, without taking it. */
  available(): Promise<void>;
  /** Changes the number of permits. Those that callers have stay theirs, also where they are more than that. */
  resize(permits: number): void;
}

interface Waiter {
  readonly acquires: boolean;
  readonly resolve: () => void;
}

/** `permits`: how many callers may have one at the same time. */
export function createSemaphore(permits: number): Semaphore {
  let size = permits;
  let free = permits;
  const waiters: Waiter[] = [];

  function grant(): void {
    while (free > 0) {
      const next = waiters.shift();
      if (next === undefined) return;
      if (next.acquires) free -= 1;
      next.resolve();
    }
  }

  function wait(acquires: boolean): Promise<void> {
    return new Promise((resolve) => {
      waiters.push({ acquires, resolve });
      grant();
    });
  }

  function release(): void {
    free += 1;
    grant();
  }

  return {
    acquire: () => wait(true),
    release,
    async run(work) {
      await wait(true);
      try {
        return await work();
      } finally {
        release();
      }
    },
    available: () => wait(false),
    resize(permits) {
      free += permits - size;
      size = permits;
      grant();
    },
  };
}
