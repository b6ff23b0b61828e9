/** What is remembered of a process that was started, so that another program can end it later: by its identity. */
import { z } from "zod";
import { type EndOptions, endProcess } from "./end-process.ts";

/** The order of ending: what calls others ends before what is called. */
export const layers = { store: 0, server: 1, client: 2, fleet: 3 } as const;

export const processRecord = z.object({
  /** `etcd of cluster-1`. */
  name: z.string(),
  pid: z.int().min(2),
  startedAt: z.string(),
  logFile: z.string(),
  /** One of `layers`. */
  layer: z.int(),
});

export type ProcessRecord = Readonly<z.infer<typeof processRecord>>;

/** Hears of each process as soon as it was started. */
export interface ProcessWatcher {
  watch(record: ProcessRecord): void;
}

/** Who hears of a process: every function here that starts one takes these two. */
export interface Watchers {
  /** Ends it when this program is killed: see reaper.ts. */
  readonly reaper?: ProcessWatcher;
  /** Remembers it for the next program: see journal.ts. */
  readonly journal?: ProcessWatcher;
}

/** Just the watchers of a larger specification, to hand them on. */
export function watchersOf({ journal, reaper }: Watchers): Watchers {
  return {
    ...(reaper === undefined ? {} : { reaper }),
    ...(journal === undefined ? {} : { journal }),
  };
}

/** Calls `end` for all, the highest layer first, those of one layer at once. */
export async function endInOrder<P extends { readonly layer: number }>(
  processes: readonly P[],
  end: (process: P) => Promise<unknown>,
): Promise<void> {
  const present = [...new Set(processes.map((one) => one.layer))].sort((a, b) => b - a);
  for (const layer of present) {
    await Promise.all(processes.filter((one) => one.layer === layer).map(end));
  }
}

/** Ends all processes that are still the ones that were recorded. */
export function endRecorded(
  records: readonly ProcessRecord[],
  options?: EndOptions,
): Promise<void> {
  return endInOrder(records, (record) => endProcess(record, options));
}
