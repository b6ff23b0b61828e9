/**
 * Takes indexes apart: small ones at once, large ones while they arrive in a thread that is started when it is needed
 * and ended when it was idle for a while, so that its memory goes back.
 */
import { Worker } from "node:worker_threads";
import { messageOf } from "../../errors/app-error.ts";
import type { ChartEntries } from "./index-entry.ts";
import {
  createIndexPacker,
  type PackedIndex,
  type PackOptions,
  partOf,
  readPart,
} from "./index-pack.ts";
import type { IndexTask, IndexTaskReply, IndexTaskRequest } from "./index-worker.ts";

export interface IndexReaderOptions {
  /** What is smaller is read at once, in this thread. */
  readonly inlineBytes?: number;
  readonly idleMs?: number;
  /** A text that takes longer is refused. */
  readonly timeoutMs?: number;
  readonly maxHeapMegabytes?: number;
  /** Larger ones are read in the layout alone that Helm writes. */
  readonly maxWholeBytes?: number;
}

/** An index on its way. Every error says what is wrong with its text. */
export interface IndexIntake {
  /** The next bytes, which must not change afterwards. Resolves when more may come. */
  add(bytes: Uint8Array): Promise<void>;
  finish(): Promise<PackedIndex>;
  /** Nothing more comes, and nothing of it is wanted. Does nothing once it has finished. */
  drop(): void;
}

export interface IndexReader {
  /** For a text that will come: has the thread ready when it is there. */
  expect(sizeBytes: number): void;
  begin(options: { readonly parseAll: boolean }): IndexIntake;
  /** The entries of chart number `at`; undefined when the index has to be read again with `parseAll`. */
  read(index: PackedIndex, at: number): Promise<ChartEntries | undefined>;
  close(): Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, PromiseWithResolvers<IndexTaskReply>>;
  /** Indexes that it has begun. */
  intakes: number;
  /** Why it takes nothing any more. */
  ended: Error | undefined;
}

/** How much is given to the thread at once, and how much may be on its way to it. */
const slabBytes = 1024 * 1024;

export function createIndexReader(options: IndexReaderOptions = {}): IndexReader {
  const {
    inlineBytes = 256 * 1024,
    idleMs = 10_000,
    timeoutMs = 60_000,
    maxHeapMegabytes = 2048,
    maxWholeBytes = 64 * 1024 * 1024,
  } = options;
  let thread: Thread | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastTurn = Promise.resolve();
  let lastId = 0;
  let lastIntake = 0;

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
      intakes: 0,
      ended: undefined,
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
    own.ended ??= reason;
    for (const waiting of own.waiting.values()) waiting.reject(reason);
    own.waiting.clear();
  }

  function rest(own: Thread): void {
    if (own.waiting.size > 0 || own.intakes > 0 || own.ended !== undefined) return;
    own.worker.unref();
    clearTimeout(idle);
    idle = setTimeout(() => void stop(own), idleMs).unref();
  }

  async function stop(own: Thread): Promise<void> {
    end(own, new Error("it was not read: the reader has been closed"));
    await own.worker.terminate();
  }

  function running(): Thread {
    clearTimeout(idle);
    thread ??= start();
    return thread;
  }

  async function run(
    own: Thread,
    task: IndexTask,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<IndexTaskReply> {
    if (own.ended !== undefined) throw own.ended;
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
      const response = await reply.promise;
      if (response.kind === "failed") throw new Error(response.message);
      return response;
    } finally {
      clearTimeout(limit);
      own.waiting.delete(id);
      rest(own);
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

  /** In this thread, when there is not more of it than that. */
  function packHere(chunks: readonly Uint8Array[], options: PackOptions): Promise<PackedIndex> {
    return inTurn(() => {
      const packer = createIndexPacker(options);
      for (const chunk of chunks) packer.add(chunk);
      return packer.finish();
    });
  }

  function begin({ parseAll }: { readonly parseAll: boolean }): IndexIntake {
    const options = { parseAll, maxWholeBytes };
    const intake = ++lastIntake;
    let chunks: Uint8Array[] = [];
    let held = 0;
    let own: Thread | undefined;
    let sending: Promise<unknown> = Promise.resolve();

    function sendHeld(to: Thread): void {
      const bytes = new Uint8Array(held);
      let at = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, at);
        at += chunk.length;
      }
      chunks = [];
      held = 0;
      sending = run(to, { kind: "add", intake, bytes, options }, [bytes.buffer]);
      // Whoever comes next is told.
      sending.catch(() => undefined);
    }

    function letGo(): void {
      if (own === undefined) return;
      own.intakes -= 1;
      rest(own);
      own = undefined;
    }

    return {
      async add(bytes) {
        chunks.push(bytes);
        held += bytes.length;
        if (held < (own === undefined ? inlineBytes : slabBytes)) return;
        if (own === undefined) {
          own = running();
          own.intakes += 1;
        }
        await sending;
        sendHeld(own);
      },
      async finish() {
        if (own === undefined) return packHere(chunks, options);
        try {
          await sending;
          sendHeld(own);
          await sending;
          const reply = await run(own, { kind: "finish", intake });
          if (reply.kind !== "packed") throw otherAnswer();
          return reply.index;
        } finally {
          letGo();
        }
      },
      drop() {
        if (own !== undefined && own.ended === undefined)
          run(own, { kind: "drop", intake }).catch(() => undefined);
        letGo();
      },
    };
  }

  return {
    expect(sizeBytes) {
      if (sizeBytes < inlineBytes || thread !== undefined) return;
      rest(running());
    },
    begin,
    async read(index, at) {
      const part = partOf(index, at);
      if ((index.sizes[at] ?? 0) < inlineBytes) return inTurn(() => readPart(part));
      // A view would be sent with the whole buffer behind it.
      const task = { kind: "read", part: { ...part, bytes: part.bytes.slice() } } as const;
      const reply = await run(running(), task);
      if (reply.kind !== "read") throw otherAnswer();
      return reply.entries;
    },
    async close() {
      clearTimeout(idle);
      if (thread !== undefined) await stop(thread);
    },
  };
}

function otherAnswer(): Error {
  return new Error("it could not be read: the reader gave another response");
}
