/** The record of a started process, by which another command can end it later. */
import * as z from "zod";
import { type EndOptions, endProcess } from "./end-process.ts";

/** Shutdown order, highest first: clients end before the servers that they call. */
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

/** Is notified of each process as soon as it has started. */
export interface ProcessWatcher {
  watch(record: ProcessRecord): void;
}

/** The watchers that every function that starts processes takes. */
export interface Watchers {
  /** Ends the process when this program is killed: see reaper.ts. */
  readonly reaper?: ProcessWatcher;
  /** Records the process for later commands: see journal.ts. */
  readonly journal?: ProcessWatcher;
}

/** The watchers of a larger specification, to pass them on. */
export function watchersOf({ journal, reaper }: Watchers): Watchers {
  return {
    ...(reaper === undefined ? {} : { reaper }),
    ...(journal === undefined ? {} : { journal }),
  };
}

/** Calls `end` for all processes, the highest layer first, processes of one layer in parallel. */
export async function endInOrder<P extends { readonly layer: number }>(
  processes: readonly P[],
  end: (process: P) => Promise<unknown>,
): Promise<void> {
  const usedLayers = [...new Set(processes.map((one) => one.layer))].sort((a, b) => b - a);
  for (const layer of usedLayers) {
    await Promise.all(processes.filter((one) => one.layer === layer).map(end));
  }
}

/** Ends the recorded processes that are still running. */
export function endRecorded(
  records: readonly ProcessRecord[],
  options?: EndOptions,
): Promise<void> {
  return endInOrder(records, (record) => endProcess(record, options));
}
