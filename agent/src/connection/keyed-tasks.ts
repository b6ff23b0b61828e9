/** Tasks that are queued by key: in order for one key, concurrent for different keys, with backpressure. */

export interface KeyedTasksOptions {
  /** Tasks in progress or queued; `onFull` is called when there are as many, `onRoom` when there are fewer again. */
  readonly limit: number;
  readonly onFull: () => void;
  readonly onRoom: () => void;
  readonly onFailed: (thrown: unknown) => void;
}

export interface KeyedTasks {
  add(key: string, task: () => Promise<void>): void;
  /** Resolves when every task that was added has ended. */
  idle(): Promise<void>;
}

export function createKeyedTasks(options: KeyedTasksOptions): KeyedTasks {
  const { limit, onFull, onRoom, onFailed } = options;
  const last = new Map<string, Promise<void>>();
  let count = 0;

  return {
    add(key, task) {
      count += 1;
      if (count === limit) onFull();
      const before = last.get(key);
      const work = (before === undefined ? task() : before.then(task))
        .catch(onFailed)
        .finally(() => {
          count -= 1;
          if (last.get(key) === work) last.delete(key);
          if (count === limit - 1) onRoom();
        });
      last.set(key, work);
    },
    async idle() {
      while (last.size > 0) await Promise.all(last.values());
    },
  };
}
