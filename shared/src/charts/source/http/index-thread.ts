/** One worker thread for large indexes. It terminates after it was idle for a while, so that its memory is freed. */
import { Worker } from "node:worker_threads";
import { messageOf } from "../../../runtime/errors/index.ts";
import type { IndexTask, IndexTaskReply, IndexTaskRequest } from "./index-worker.ts";

export interface IndexThreadOptions {
  readonly idleMs: number;
  /** A task that takes longer fails, and the thread with it. */
  readonly timeoutMs: number;
  readonly maxHeapMegabytes: number;
}

export interface IndexThread {
  /** Why it runs no more tasks. */
  readonly ended: Error | undefined;
  /** Runs a task in the thread; the buffers of `transfer` are moved to it. Rejects with what is wrong with the index. */
  run(task: IndexTask, transfer?: readonly ArrayBuffer[]): Promise<IndexTaskReply>;
  /** Keeps the thread from becoming idle until `release`. */
  retain(): void;
  release(): void;
  close(): Promise<void>;
}

/** `onEnd` is called once, when the thread runs no more tasks. */
export function startIndexThread(options: IndexThreadOptions, onEnd: () => void): IndexThread {
  const { idleMs, timeoutMs, maxHeapMegabytes } = options;
  const pending = new Map<number, PromiseWithResolvers<IndexTaskReply>>();
  let retained = 0;
  let lastId = 0;
  let ended: Error | undefined;
  let idle: NodeJS.Timeout | undefined;

  const worker = new Worker(
    // Compiled, the file beside this one ends in .js, as this one does.
    new URL(
      import.meta.url.endsWith(".ts") ? "./index-worker.ts" : "./index-worker.js",
      import.meta.url,
    ),
    { name: "chart-index", resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes } },
  );
  worker.unref();
  worker.on("message", (reply: IndexTaskReply) => pending.get(reply.id)?.resolve(reply));
  worker.on("error", (error) => end(new Error(`the parser failed: ${messageOf(error)}`)));
  worker.on("exit", () => end(new Error("the parser thread ended")));

  function end(reason: Error): void {
    clearTimeout(idle);
    if (ended !== undefined) return;
    ended = reason;
    for (const { reject } of pending.values()) reject(reason);
    pending.clear();
    onEnd();
  }

  async function close(): Promise<void> {
    end(new Error("the parser was closed"));
    await worker.terminate();
  }

  function restIfIdle(): void {
    if (pending.size > 0 || retained > 0 || ended !== undefined) return;
    worker.unref();
    clearTimeout(idle);
    idle = setTimeout(() => void close(), idleMs).unref();
  }
  restIfIdle();

  return {
    get ended() {
      return ended;
    },
    async run(task, transfer = []) {
      if (ended !== undefined) throw ended;
      clearTimeout(idle);
      const id = ++lastId;
      const reply = Promise.withResolvers<IndexTaskReply>();
      pending.set(id, reply);
      worker.ref();
      const timeout = setTimeout(() => {
        end(new Error(`not parsed within ${Math.round(timeoutMs / 1000)} s`));
        void worker.terminate();
      }, timeoutMs);
      try {
        worker.postMessage({ ...task, id } satisfies IndexTaskRequest, [...transfer]);
        const result = await reply.promise;
        if (result.kind === "failed") throw new Error(result.message);
        return result;
      } finally {
        clearTimeout(timeout);
        pending.delete(id);
        restIfIdle();
      }
    },
    retain() {
      clearTimeout(idle);
      retained += 1;
    },
    release() {
      retained -= 1;
      restIfIdle();
    },
    close,
  };
}
