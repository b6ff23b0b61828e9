/**
 * Reads Chart.yaml of tenants: a long one in a child process with limits, because it takes up to a second and a hundred megabytes,
 * in which the leader could not renew its Lease.
 */
import { createHash } from "node:crypto";
import { createLruCache } from "@flotilla/shared/cache";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import type { ProcessLimits, ProcessWatch } from "@flotilla/shared/process";
import { createReaderPool, programBeside, type ReaderPoolOptions } from "@flotilla/shared/reader";
import { type ChartFacts, chartFactsOf, chartFactsSchema } from "./chart-facts.ts";
import type { ReaderTask } from "./reader-task.ts";

/** Why it cannot be read, for messages: only another file helps. */
export interface ChartLimit {
  readonly problem: string;
}

export type ReadChart = (task: ReaderTask) => Promise<ChartFacts | ChartLimit>;

export interface ChartReader {
  readonly readChart: ReadChart;
  close(): Promise<void>;
}

const MiB = 1024 * 1024;
const limits: ProcessLimits = { memoryBytes: 256 * MiB, cpuMs: 5_000, fullPriorityCpuMs: 50 };

/** Characters that take less time than a reader does. */
const shortText = 8 * 1024;
const maxReplyBytes = MiB;
const maxReaders = 2;
const timeoutMs = 30_000;
/** How many long ones are kept: every reconcile reads them. */
const cacheSize = 256;

export function createChartReader(
  options: { readonly watch: ProcessWatch } & Partial<ReaderPoolOptions>,
): ChartReader {
  const pool = createReaderPool<ReaderTask>({
    limits,
    maxReplyBytes,
    maxReaders,
    timeoutMs,
    environment: {},
    program: programBeside(import.meta.url, "reader-main"),
    ...options,
  });
  const known = createLruCache<ChartFacts | ChartLimit>(cacheSize);

  async function readLong(task: ReaderTask): Promise<ChartFacts | ChartLimit> {
    const result = await pool.run(task);
    if (result.kind === "done") return chartFactsSchema.parse(result.value);
    if (result.kind === "failed") throw new AppError(commonErrors.INTERNAL, result.message);
    if (pool.isClosed) throw new AppError(commonErrors.CANCELLED, "cancelled: read a Chart.yaml");
    return { problem: `the process that reads its Chart.yaml ${result.what}` };
  }

  return {
    async readChart(task) {
      const { chart, requirements = "" } = task;
      if (chart.length + requirements.length <= shortText) return chartFactsOf(task);
      const key = createHash("sha256").update(JSON.stringify(task)).digest("base64");
      const found = known.get(key);
      if (found !== undefined) return found;
      const read = await readLong(task);
      known.set(key, read);
      return read;
    },
    close: pool.close,
  };
}
