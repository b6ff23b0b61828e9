/** Ends and removes what a fleet left in its folder, whoever started it and however that one ended. */
import { readdir, rm, rmdir } from "node:fs/promises";
import { isAlive } from "../process/identity.ts";
import { readJournal } from "../process/journal.ts";
import { endRecorded, type ProcessRecord } from "../process/process-record.ts";
import type { FleetPaths } from "./fleet-paths.ts";

/** The processes of the fleet that run now, by what was written down when each was started. */
export async function runningProcesses(paths: FleetPaths): Promise<readonly ProcessRecord[]> {
  const started = await readJournal(paths.journal);
  const alive = await Promise.all(started.map(isAlive));
  return started.filter((_, index) => alive[index] === true);
}

/** Ends all processes of the fleet; says which ones were running. */
export async function endFleetProcesses(paths: FleetPaths): Promise<readonly ProcessRecord[]> {
  const running = await runningProcesses(paths);
  await endRecorded(running, { graceMs: 10_000 });
  await rm(paths.journal, { force: true });
  return running;
}

/** Removes what the fleet keeps on disk, and nothing that somebody else put into its folder. End its processes first. */
export async function removeFleetFiles(paths: FleetPaths): Promise<void> {
  const own = [
    paths.state,
    paths.kubeconfig,
    paths.journal,
    paths.logs,
    paths.clusters,
    paths.registry,
    paths.chartRepository,
    paths.work,
  ];
  await Promise.all(own.map((path) => rm(path, { recursive: true, force: true, maxRetries: 3 })));
  const left = await readdir(paths.root).catch(() => [""]);
  // `up` in the foreground, whose processes were ended, cleans up as well.
  if (left.length > 0) return;
  await rmdir(paths.root).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "ENOENT") throw thrown;
  });
}
