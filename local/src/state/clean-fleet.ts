/** Ends the processes of a fleet and deletes its files, also after the command that started it was killed. */
import { readdir, rm, rmdir } from "node:fs/promises";
import { endRecorded, isAlive, type ProcessRecord, readJournal } from "../process/index.ts";
import type { FleetPaths } from "./fleet-paths.ts";

/** The running processes of the fleet, from its journal. */
export async function runningProcesses(paths: FleetPaths): Promise<readonly ProcessRecord[]> {
  const started = await readJournal(paths.journal);
  const alive = await Promise.all(started.map(isAlive));
  return started.filter((_, index) => alive[index] === true);
}

/** Ends all processes of the fleet and returns those that were running. */
export async function endFleetProcesses(paths: FleetPaths): Promise<readonly ProcessRecord[]> {
  const running = await runningProcesses(paths);
  await endRecorded(running, { graceMs: 10_000 });
  await rm(paths.journal, { force: true });
  return running;
}

/** Deletes the files of the fleet, and no other files in its folder. End its processes first. */
export async function removeFleetFiles(paths: FleetPaths): Promise<void> {
  const own = [
    paths.state,
    paths.kubeconfig,
    paths.journal,
    paths.stopping,
    paths.logs,
    paths.clusters,
    paths.registry,
    paths.chartRepository,
    paths.work,
    paths.values,
  ];
  await Promise.all(own.map((path) => rm(path, { recursive: true, force: true, maxRetries: 3 })));
  const remaining = await readdir(paths.root).catch(() => [""]);
  // `up` in the foreground deletes the files, too, when its processes have ended.
  if (remaining.length > 0) return;
  await rmdir(paths.root).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "ENOENT") throw thrown;
  });
}
