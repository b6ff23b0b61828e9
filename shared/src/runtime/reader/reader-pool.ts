/**
 * Child processes that read what tenants can write (docs/adr/0023). Tasks are short, and starting a reader costs as much as several
 * of them: another one is started only if a task waits, because those that run are busy with a hostile one. A reader without a
 * task ends soon, so that a program that reads nothing has none.
 */
import { fileURLToPath } from "node:url";
import {
  type ReaderEnded,
  type ReaderProcess,
  type ReaderProcessOptions,
  startReader,
} from "./reader-process.ts";
import type { ReaderReply } from "./reply.ts";

export interface ReaderPoolOptions extends Omit<ReaderProcessOptions, "timeoutMs"> {
  /** Readers at a time. */
  readonly maxReaders: number;
  /** For one task. */
  readonly timeoutMs?: number;
  /** How long a reader stays without a task. */
  readonly idleMs?: number;
  /** How long a task waits for a busy reader before another one is started. */
  readonly waitMs?: number;
  /** A reader ends after this number of tasks, with all that they may have left in its memory. */
  readonly maxTasks?: number;
}

export interface ReaderPool<Task> {
  readonly isClosed: boolean;
  /** Starts one, so that it is ready when the first task comes. */
  prepare(): void;
  /** Never rejects. */
  run(task: Task): Promise<ReaderReply | ReaderEnded>;
  /** Resolves once all have ended. */
  close(): Promise<void>;
}

/** Tasks wait for nothing but the processor, whose time is limited: a machine with other work may take long. */
const defaults = { timeoutMs: 180_000, idleMs: 20_000, waitMs: 200, maxTasks: 500 };

/** The path of a program beside the file at `url`, its name without an ending; compiled, both end in .js. */
export function programBeside(url: string, name: string): string {
  return fileURLToPath(new URL(`./${name}${url.endsWith(".ts") ? ".ts" : ".js"}`, url));
}

export function createReaderPool<Task>(options: ReaderPoolOptions): ReaderPool<Task> {
  const { maxReaders, timeoutMs, idleMs, waitMs, maxTasks } = { ...defaults, ...options };
  const idle: ReaderProcess[] = [];
  const busy = new Set<ReaderProcess>();
  const waiting: ((reader: ReaderProcess) => void)[] = [];
  let idleTimer: NodeJS.Timeout | undefined;
  let waitTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function start(): ReaderProcess {
    return startReader({ ...options, timeoutMs });
  }

  function endIdle(): void {
    for (const reader of idle.splice(0)) void reader.close();
  }

  function startIdleTimer(): void {
    clearTimeout(idleTimer);
    idleTimer = setTimeout(endIdle, idleMs).unref();
  }

  /** Gives waiting tasks the readers that are free, and starts one if they wait too long. */
  function assign(): void {
    while (waiting.length > 0) {
      const reader = nextReader();
      if (reader === undefined) break;
      busy.add(reader);
      waiting.shift()?.(reader);
    }
    clearTimeout(waitTimer);
    if (waiting.length > 0 && busy.size < maxReaders)
      waitTimer = setTimeout(() => {
        idle.push(start());
        assign();
      }, waitMs);
  }

  function nextReader(): ReaderProcess | undefined {
    for (let reader = idle.pop(); reader !== undefined; reader = idle.pop())
      if (!reader.hasEnded) return reader;
    return busy.size === 0 ? start() : undefined;
  }

  function release(reader: ReaderProcess): void {
    busy.delete(reader);
    if (isClosed || reader.isSlow || reader.tasks >= maxTasks) void reader.close();
    else if (!reader.hasEnded) idle.push(reader);
    startIdleTimer();
    assign();
  }

  return {
    get isClosed() {
      return isClosed;
    },
    prepare() {
      if (isClosed || busy.size > 0 || idle.some((reader) => !reader.hasEnded)) return;
      idle.push(start());
      startIdleTimer();
    },
    async run(task) {
      if (isClosed) return { kind: "ended", what: "was closed" };
      const reader = await new Promise<ReaderProcess>((resolve) => {
        waiting.push(resolve);
        assign();
      });
      try {
        return await reader.run(task);
      } finally {
        release(reader);
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(idleTimer);
      clearTimeout(waitTimer);
      await Promise.all([...idle.splice(0), ...busy].map((reader) => reader.close()));
    },
  };
}
