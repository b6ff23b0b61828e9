/** Parses indexes: small ones in this thread, large ones in a worker thread while they arrive. */
import type { ChartEntries } from "./index-entry.ts";
import {
  createIndexPacker,
  type PackedIndex,
  type PackOptions,
  partOf,
  readPart,
} from "./index-pack.ts";
import { type IndexThread, startIndexThread } from "./index-thread.ts";

export interface IndexReaderOptions {
  /** Smaller texts are parsed in this thread. */
  readonly inlineBytes?: number;
  /** The worker thread terminates after this time without a task. */
  readonly idleMs?: number;
  /** For one task of the worker thread. */
  readonly timeoutMs?: number;
  readonly maxHeapMegabytes?: number;
  /** Larger texts are parsed only in the layout that Helm writes. */
  readonly maxWholeBytes?: number;
}

/** The limits of a program that may use this much memory, most of which it needs for other things. Pure. */
export function indexLimits(memoryBytes: number): {
  readonly maxHeapMegabytes: number;
  readonly maxWholeBytes: number;
  readonly maxCachedBytes: number;
} {
  const maxHeapMegabytes = Math.min(2048, Math.floor(memoryBytes / 3 / MiB));
  // A parsed text takes about 30 times its size; one that takes more ends the worker thread, and nothing else.
  const maxWholeBytes = Math.min(64 * MiB, Math.floor((maxHeapMegabytes * MiB) / 30));
  const maxCachedBytes = Math.min(256 * MiB, Math.floor(memoryBytes / 8));
  return { maxHeapMegabytes, maxWholeBytes, maxCachedBytes };
}

const MiB = 1024 * 1024;

/** An index that is being received. Every error says what is wrong with its text. */
export interface IndexIntake {
  /** The next bytes, which must not change afterwards. Resolves when more can be accepted. */
  add(bytes: Uint8Array): Promise<void>;
  finish(): Promise<PackedIndex>;
  /** Discards it. No effect after `finish`. */
  drop(): void;
}

export interface IndexReader {
  /** Announces a text of this size, so that the worker thread is ready when it arrives. */
  expect(sizeBytes: number): void;
  begin(options: { readonly parseAll: boolean }): IndexIntake;
  /** The entries of chart number `at`; undefined when the index has to be parsed again with `parseAll`. */
  read(index: PackedIndex, at: number): Promise<ChartEntries | undefined>;
  close(): Promise<void>;
}

/** Bytes that are sent to the worker thread at once. One such block may be in flight. */
const blockBytes = 1024 * 1024;

export function createIndexReader(options: IndexReaderOptions = {}): IndexReader {
  const {
    inlineBytes = 256 * 1024,
    idleMs = 10_000,
    timeoutMs = 60_000,
    maxHeapMegabytes = 2048,
    maxWholeBytes = 64 * 1024 * 1024,
  } = options;
  const runQueued = createRunQueue();
  let thread: IndexThread | undefined;
  let lastIntake = 0;

  function running(): IndexThread {
    if (thread !== undefined) return thread;
    const started = startIndexThread({ idleMs, timeoutMs, maxHeapMegabytes }, () => {
      if (thread === started) thread = undefined;
    });
    thread = started;
    return started;
  }

  return {
    expect(sizeBytes) {
      if (sizeBytes >= inlineBytes) running();
    },
    begin({ parseAll }) {
      const id = ++lastIntake;
      return createIntake(
        { id, options: { parseAll, maxWholeBytes }, inlineBytes },
        { running, runQueued },
      );
    },
    async read(index, at) {
      const part = partOf(index, at);
      if ((index.sizes[at] ?? 0) < inlineBytes) return runQueued(() => readPart(part));
      // Copied: a view would be sent with its whole buffer.
      const task = { kind: "read", part: { ...part, bytes: part.bytes.slice() } } as const;
      const reply = await running().run(task);
      if (reply.kind !== "read") throw unexpectedReply();
      return reply.entries;
    },
    close: async () => await thread?.close(),
  };
}

type RunQueued = <T>(work: () => T) => Promise<T>;

/** Runs work in this thread, one piece in each iteration of the event loop: many charts may be read at once. */
function createRunQueue(): RunQueued {
  let last = Promise.resolve();
  return async (work) => {
    const before = last;
    const ended = Promise.withResolvers<void>();
    last = ended.promise;
    await before;
    try {
      return work();
    } finally {
      setImmediate(ended.resolve);
    }
  };
}

interface Intake {
  readonly id: number;
  readonly options: PackOptions;
  readonly inlineBytes: number;
}

function createIntake(
  { id, options, inlineBytes }: Intake,
  { running, runQueued }: { readonly running: () => IndexThread; readonly runQueued: RunQueued },
): IndexIntake {
  let chunks: Uint8Array[] = [];
  let bufferedBytes = 0;
  /** Once the text turned out to be large. */
  let thread: IndexThread | undefined;
  let sending: Promise<unknown> = Promise.resolve();

  function sendBuffered(to: IndexThread): void {
    const bytes = new Uint8Array(bufferedBytes);
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    chunks = [];
    bufferedBytes = 0;
    sending = to.run({ kind: "add", intake: id, bytes, options }, [bytes.buffer]);
    // The next call reports the failure.
    sending.catch(() => undefined);
  }

  function release(): void {
    thread?.release();
    thread = undefined;
  }

  return {
    async add(bytes) {
      chunks.push(bytes);
      bufferedBytes += bytes.length;
      if (bufferedBytes < (thread === undefined ? inlineBytes : blockBytes)) return;
      if (thread === undefined) {
        thread = running();
        thread.retain();
      }
      const to = thread;
      await sending;
      sendBuffered(to);
    },
    async finish() {
      if (thread === undefined) {
        return await runQueued(() => {
          const packer = createIndexPacker(options);
          for (const chunk of chunks) packer.add(chunk);
          return packer.finish();
        });
      }
      try {
        await sending;
        sendBuffered(thread);
        await sending;
        const reply = await thread.run({ kind: "finish", intake: id });
        if (reply.kind !== "packed") throw unexpectedReply();
        return reply.index;
      } finally {
        release();
      }
    },
    drop() {
      if (thread !== undefined && thread.ended === undefined)
        thread.run({ kind: "drop", intake: id }).catch(() => undefined);
      release();
    },
  };
}

function unexpectedReply(): Error {
  return new Error("the parser thread sent an unexpected reply");
}
