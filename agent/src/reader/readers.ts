/**
 * The readers of an agent (docs/adr/0023). Tasks are short, and starting a reader costs as much as several of them: another one
 * is started only if a task waits, because those that run are busy with a hostile one. A reader without a task ends soon.
 */
import { AppError, commonErrors } from "@flotilla/shared/errors";
import type { ProcessLimits, ProcessWatch } from "@flotilla/shared/process";
import { chartErrors } from "@flotilla/shared/source";
import { agentErrors } from "../errors/index.ts";
import type { LimitRecords } from "../process/index.ts";
import { type ReaderProcess, startReader } from "./reader-process.ts";
import type { ReaderTask } from "./reader-task.ts";

export interface ReadersOptions {
  readonly watch: ProcessWatch;
  readonly limits: ProcessLimits;
  readonly records: LimitRecords;
  /** Readers at a time. */
  readonly maxReaders: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** How long a reader stays without a task. */
  readonly idleMs?: number;
  /** How long a task waits for a busy reader before another one is started. */
  readonly waitMs?: number;
  /** A reader ends after this number of tasks, with all that they may have left in its memory. */
  readonly maxTasks?: number;
  readonly program?: string;
}

/** What is read, for messages and for the record of a failure. */
export interface ReadSubject {
  /** Names the bytes that are read, by their digest. */
  readonly key: string;
  /** What failed: "read the chart …". */
  readonly what: string;
}

export interface Readers {
  /** Starts one, so that it is ready when the first task comes. */
  prepare(): void;
  /** Throws LIMIT_EXCEEDED, and what the task throws. */
  run(task: ReaderTask, subject: ReadSubject): Promise<unknown>;
  /** Resolves once all have ended. */
  close(): Promise<void>;
}

const defaults = { timeoutMs: 60_000, idleMs: 5_000, waitMs: 200, maxTasks: 500 };

export function createReaders(options: ReadersOptions): Readers {
  const { records, maxReaders, timeoutMs, idleMs, waitMs, maxTasks } = { ...defaults, ...options };
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

  async function inReader(task: ReaderTask) {
    const reader = await new Promise<ReaderProcess>((resolve) => {
      waiting.push(resolve);
      assign();
    });
    try {
      return await reader.run(task);
    } finally {
      release(reader);
    }
  }

  return {
    prepare() {
      if (isClosed || busy.size > 0 || idle.some((reader) => !reader.hasEnded)) return;
      idle.push(start());
      startIdleTimer();
    },
    async run(task, { key, what }) {
      records.check(key);
      const result = await inReader(task);
      switch (result.kind) {
        case "done":
          await records.succeeded(key);
          return result.value;
        case "failed":
          if (result.code === agentErrors.LIMIT_EXCEEDED.code)
            throw await records.exceeded(key, result.message);
          throw new AppError(errorKind(result.code), result.message);
        case "ended":
          if (isClosed) throw new AppError(commonErrors.CANCELLED, `cancelled: ${what}`);
          throw await records.exceeded(key, `${what}: the process that reads it ${result.what}`);
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

/** What a task throws. */
const passedOn = [
  agentErrors.CHART_UNREADABLE,
  agentErrors.RELEASE_UNREADABLE,
  agentErrors.CRDS_NOT_KEPT,
  chartErrors.CHART_NOT_IN_SOURCE,
  chartErrors.CHART_VALUES_FILE,
  chartErrors.CHART_DEPENDENCY,
  chartErrors.CHART_BUILD,
];

function errorKind(code: string) {
  return passedOn.find((kind) => kind.code === code) ?? commonErrors.INTERNAL;
}
