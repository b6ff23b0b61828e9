/** `flotilla up` and `flotilla down`: start and stop a fleet on this machine. */

import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { plainProgress } from "@flotilla/local/binaries";
import {
  endInOrder,
  exitError,
  type Reaper,
  type RunningProcess,
  startReaper,
  withLock,
} from "@flotilla/local/process";
import { kindProvider } from "@flotilla/local/provider";
import {
  endFleetProcesses,
  type FleetPaths,
  fleetPaths,
  observeFleet,
  removeFleetFiles,
} from "@flotilla/local/state";
import { AppError } from "@flotilla/shared/errors";
import { listNames } from "@flotilla/shared/text";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { describeFleet, loadStartFleet, type StartedFleet } from "../fleet/index.ts";
import { abortOnSignals } from "./signals.ts";

export interface UpOptions {
  readonly dir: string;
  readonly clusters: number;
  readonly provider: "embedded" | "kind";
  readonly detach?: boolean;
  readonly sample: boolean;
  readonly local?: boolean;
  /** Clusters without anything of Flotilla. */
  readonly bare?: boolean;
}

/** Resolves when the fleet is ready (`detach`), or after it was stopped by a signal. */
export async function up(options: UpOptions, config: CliConfig): Promise<void> {
  const paths = fleetPaths(options.dir);
  const out = process.stdout;
  const stop = abortOnSignals({
    reason: new AppError(
      cliErrors.FLEET_NOT_READY,
      "interrupted before the fleet was ready; all its processes have been stopped",
    ),
    onRepeat: () => process.stderr.write("already stopping, please wait\n"),
  });
  const describeOptions = {
    sample: options.sample,
    bare: options.bare === true,
    ...(options.dir !== config.dir && { dir: options.dir }),
  };
  await mkdir(paths.root, { recursive: true });

  const started = await withLock(
    paths.lock,
    async (): Promise<{ fleet: StartedFleet; reaper: Reaper | undefined } | undefined> => {
      const observed = await observeFleet(paths);
      if (observed.kind === "running") {
        out.write("A fleet is already running.\n");
        out.write(describeFleet(observed.state, { ...describeOptions, foreground: false }));
        return undefined;
      }
      if (observed.kind === "broken") {
        throw new AppError(
          cliErrors.FLEET_BROKEN,
          `the fleet in ${paths.root} is broken: ${listNames(observed.ended.map(({ name }) => name))} has ended; run \`flotilla down\` first`,
        );
      }
      // Files that remain after a killed program or a restart of the machine.
      await endFleetProcesses(paths);
      await removeFleetFiles(paths);
      await mkdir(paths.root, { recursive: true });
      const reaper = options.detach ? undefined : startReaper();
      const startedMs = performance.now();
      try {
        const startFleet = await loadStartFleet();
        const fleet = await startFleet({
          ...options,
          paths,
          environment: config.environment,
          ...(reaper !== undefined && { reaper }),
          progress: plainProgress(out),
          step: (what) =>
            out.write(
              `[${((performance.now() - startedMs) / 1000).toFixed(1).padStart(5)} s] ${what}\n`,
            ),
          signal: stop,
        });
        return { fleet, reaper };
      } catch (thrown) {
        await endFleetProcesses(paths);
        await reaper?.release();
        if (!stop.aborted) process.stderr.write(logsHint(paths));
        throw stop.aborted ? stop.reason : thrown;
      }
    },
  );
  if (started === undefined) return;
  const { fleet, reaper } = started;
  out.write(
    describeFleet(fleet.state, {
      ...describeOptions,
      foreground: options.detach !== true,
      ...(fleet.loginLink !== undefined && { loginLink: fleet.loginLink }),
    }),
  );
  if (options.detach) {
    for (const running of fleet.processes) running.detach();
    return;
  }
  const ended = await firstToEnd(fleet.processes, stop);
  const isStopped = ended === undefined || existsSync(paths.stopping);
  if (isStopped) out.write("\nStopping ...\n");
  await endInOrder(fleet.processes, (running) => running.stop());
  await endFleetProcesses(paths);
  await removeFleetFiles(paths);
  await reaper?.release();
  if (!isStopped) throw await exitError(ended);
  out.write("Fleet stopped.\n");
}

/** What a failed start leaves, until the next one. */
function logsHint({ logs, clusters }: FleetPaths): string {
  const left = [logs, clusters].filter((path) => existsSync(path));
  return left.length === 0 ? "" : `The logs of what was started are in ${left.join(" and ")}\n`;
}

/** The first process that exits unexpectedly; undefined when `stop` aborts before that. */
async function firstToEnd(
  processes: readonly RunningProcess[],
  stop: AbortSignal,
): Promise<RunningProcess | undefined> {
  if (stop.aborted) return undefined;
  return await Promise.race([
    ...processes.map((running) => running.exited.then(() => running)),
    new Promise<undefined>((resolve) =>
      stop.addEventListener("abort", () => resolve(undefined), { once: true }),
    ),
  ]);
}

/** Stops all processes of the fleet in `dir` and deletes its files. Does nothing when there is none. */
export async function down(dir: string, config: CliConfig): Promise<void> {
  const paths = fleetPaths(dir);
  const observed = await observeFleet(paths);
  // For `up` in another terminal, which would take the end of its processes for a failure.
  if (observed.kind !== "absent") await writeFile(paths.stopping, "");
  const ended = await endFleetProcesses(paths);
  if (observed.kind !== "absent" && observed.state.provider === "kind") {
    const kind = kindProvider({ environment: config.environment });
    await Promise.all(
      observed.state.clusters.map(({ name }) => kind.stop({ name, dir: paths.cluster(name) })),
    );
  }
  await removeFleetFiles(paths);
  process.stdout.write(
    ended.length === 0
      ? "No fleet is running.\n"
      : `Fleet stopped: ${ended.length} processes ended, data deleted.\n`,
  );
}
