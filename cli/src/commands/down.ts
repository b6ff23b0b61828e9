/** `flotilla down`: ends a local fleet and removes what it kept. */

import { kindProvider } from "@flotilla/local/provider/kind.ts";
import { endFleetProcesses, removeFleetFiles } from "@flotilla/local/state/clean-fleet.ts";
import { fleetPaths } from "@flotilla/local/state/fleet-paths.ts";
import { observeFleet } from "@flotilla/local/state/fleet-state.ts";
import type { CliConfig } from "../config.ts";

/** Harmless when nothing runs. */
export async function down(dir: string, config: CliConfig): Promise<void> {
  const paths = fleetPaths(dir);
  const observed = await observeFleet(paths);
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
      ? "No fleet is running here.\n"
      : `Stopped ${ended.length} processes; nothing of the fleet is left.\n`,
  );
}
