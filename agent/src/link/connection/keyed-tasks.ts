/** Tasks that are queued by key: in order for one key, concurrent for different keys, with backpressure. */
import { createKeyedMutex } from "@flotilla/shared/concurrency";

export interface KeyedTasksOptions {
  /** Limit of tasks in progress or queued; `onFull` is called when it is reached, `onRoom` when there are fewer again. */
  readonly limit: number;
  readonly onFull: () => void;
  readonly onRoom: () => void;
  readonly onFailed: (thrown: unknown) => void;
}

export interface KeyedTasks {
  add(key: string, task: () => Promise<void>): void;
  /** Resolves when every task that was added has ended: whether none has failed. */
  idle(): Promise<boolean>;
}

export function createKeyedTasks(options: KeyedTasksOptions): KeyedTasks {
  const { limit, onFull, onRoom, onFailed } = options;
  const mutex = createKeyedMutex();
  let count = 0;
  let hasFailed = false;

  async function run(task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (thrown) {
      hasFailed = true;
      onFailed(thrown);
    } finally {
      count -= 1;
      if (count === limit - 1) onRoom();
    }
  }

  return {
    add(key, task) {
      count += 1;
      if (count === limit) onFull();
      void mutex.run(key, () => run(task));
    },
    async idle() {
      await mutex.idle();
      return !hasFailed;
    },
  };
}
