/**
 * Takes indexes apart: small ones at once, large ones in a thread that is started when it is needed and ended when
 * it was idle for a while, so that its memory goes back.
 */
import { Worker } from "node:worker_threads";
import { messageOf } from "../errors/app-error.ts";
import type { ChartEntries } from "./index-entry.ts";
import { type PackedIndex, packIndex, partOf, readPart } from "./index-pack.ts";
import type { IndexTask, IndexTaskReply, IndexTaskRequest } from "./index-worker.ts";

export interface IndexReaderOptions {
  /** What is smaller is read at once, in this thread. */
  readonly inlineBytes?: number;
  readonly idleMs?: number;
  /** A text that takes longer is refused. */
  readonly timeoutMs?: number;
  readonly maxHeapMegabytes?: number;
}

export interface IndexReader {
  /** For a text that will come: has the thread ready when it is there. */
  expect(sizeBytes: number): void;
  /** Takes the buffer of `text` for itself. Throws an Error that says what is wrong with the text. */
  pack(
    text: Uint8Array<ArrayBuffer>,
    options: { readonly parseAll: boolean },
  ): Promise<PackedIndex>;
  /** The entries of chart number `at`; undefined when the index has to be packed again with `parseAll`. */
  read(index: PackedIndex, at: number): Promise<ChartEntries | undefined>;
  close(): Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, PromiseWithResolvers<IndexTaskReply>>;
}

export function createIndexReader(options: IndexReaderOptions = {}): IndexReader {
  const {
    inlineBytes = 256 * 1024,
    idleMs = 10_000,
    timeoutMs = 60_000,
    maxHeapMegabytes = 2048,
  } = options;
  let thread: Thread | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastTurn = Promise.resolve();
  let lastId = 0;

  function start(): Thread {
    const own: Thread = {
      // Compiled, the neighbour ends in .js like this file.
      worker: new Worker(
        new URL(
          import.meta.url.endsWith(".ts") ? "./index-worker.ts" : "./index-worker.js",
          import.meta.url,
        ),
        {
          name: "chart-index",
          resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes },
        },
      ),
      waiting: new Map(),
    };
    own.worker.unref();
    own.worker.on("message", (reply: IndexTaskReply) => own.waiting.get(reply.id)?.resolve(reply));
    own.worker.on("error", (error) =>
      end(own, new Error(`it could not be read: ${messageOf(error)}`)),
    );
    own.worker.on("exit", () =>
      end(own, new Error("it could not be read: the thread that reads it has ended")),
    );
    return own;
  }

  function end(own: Thread, reason: Error): void {
    if (thread === own) thread = undefined;
    for (const waiting of own.waiting.values()) waiting.reject(reason);
    own.waiting.clear();
  }

  function rest(own: Thread): void {
    if (own.waiting.size > 0) return;
    own.worker.unref();
    clearTimeout(idle);
    idle = setTimeout(() => void stop(own), idleMs).unref();
  }

  async function stop(own: Thread): Promise<void> {
    end(own, new Error("it was not read: the reader has been closed"));
    await own.worker.terminate();
  }

  async function run(task: IndexTask, transfer: readonly ArrayBuffer[]): Promise<IndexTaskReply> {
    clearTimeout(idle);
    thread ??= start();
    const own = thread;
    const id = ++lastId;
    const reply = Promise.withResolvers<IndexTaskReply>();
    own.waiting.set(id, reply);
    own.worker.ref();
    const limit = setTimeout(() => {
      end(own, new Error(`it could not be read within ${Math.round(timeoutMs / 1000)} s`));
      void own.worker.terminate();
    }, timeoutMs);
    try {
      own.worker.postMessage({ ...task, id } satisfies IndexTaskRequest, [...transfer]);
      const answer = await reply.promise;
      if (answer.kind === "failed") throw new Error(answer.message);
      return answer;
    } finally {
      clearTimeout(limit);
      own.waiting.delete(id);
      if (thread === own) rest(own);
    }
  }

  /** Work in this thread, with everybody else's in between: many charts may be asked for at once. */
  async function inTurn<T>(work: () => T): Promise<T> {
    const before = lastTurn;
    const turn = Promise.withResolvers<void>();
    lastTurn = turn.promise;
    await before;
    try {
      return work();
    } finally {
      setImmediate(turn.resolve);
    }
  }

  return {
    expect(sizeBytes) {
      if (sizeBytes < inlineBytes || thread !== undefined) return;
      thread = start();
      rest(thread);
    },
    async pack(text, { parseAll }) {
      if (text.length < inlineBytes) return inTurn(() => packIndex(text, { parseAll }));
      const reply = await run({ kind: "pack", text, parseAll }, [text.buffer]);
      if (reply.kind !== "packed")
        throw new Error("it could not be read: the reader gave another answer");
      return reply.index;
    },
    async read(index, at) {
      const part = partOf(index, at);
      if ((index.sizes[at] ?? 0) < inlineBytes) return inTurn(() => readPart(part));
      // A view would be sent with the whole buffer behind it.
      const reply = await run({ kind: "read", part: { ...part, bytes: part.bytes.slice() } }, []);
      if (reply.kind !== "read")
        throw new Error("it could not be read: the reader gave another answer");
      return reply.entries;
    },
    async close() {
      clearTimeout(idle);
      if (thread !== undefined) await stop(thread);
    },
  };
}
