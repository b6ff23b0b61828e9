/** The readers of an agent (docs/adr/0023): what exceeded a limit is recorded, and read again later. */
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { createReaderPool, programBeside, type ReaderPoolOptions } from "@flotilla/shared/reader";
import { chartErrors } from "@flotilla/shared/source";
import { agentErrors } from "../../base/errors/index.ts";
import type { LimitRecords } from "../../base/index.ts";
import { maxReleaseBytes } from "../../helm/index.ts";
import type { ReaderTask } from "./reader-task.ts";

export interface ReadersOptions extends Omit<ReaderPoolOptions, "program" | "maxReplyBytes"> {
  readonly records: LimitRecords;
  /** For tests. */
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

/** The longest answer is a release. */
const maxReplyBytes = 1.5 * maxReleaseBytes;

export function createReaders({ records, ...options }: ReadersOptions): Readers {
  const program = options.program ?? programBeside(import.meta.url, "reader-main");
  const pool = createReaderPool<ReaderTask>({ ...options, program, maxReplyBytes });

  return {
    prepare: pool.prepare,
    async run(task, { key, what }) {
      records.check(key);
      const result = await pool.run(task);
      switch (result.kind) {
        case "done":
          await records.succeeded(key);
          return result.value;
        case "failed":
          if (result.code === agentErrors.LIMIT_EXCEEDED.code)
            throw await records.exceeded(key, result.message);
          throw new AppError(errorKind(result.code), result.message);
        case "ended":
          if (pool.isClosed) throw new AppError(commonErrors.CANCELLED, `cancelled: ${what}`);
          throw await records.exceeded(key, `${what}: the process that reads it ${result.what}`);
      }
    },
    close: pool.close,
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
