/** The local fleet and the hub that a command works on. */
import { type FleetState, fleetPaths, observeFleet } from "@flotilla/local/state";
import { AppError } from "@flotilla/shared/errors";
import { type KubeConfig, loadKubeconfig } from "@flotilla/shared/kube/client";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";

/** The state of the fleet in `dir`. Throws NO_FLEET, or FLEET_BROKEN when a process has ended. */
export async function runningFleet(dir: string): Promise<FleetState> {
  const observed = await observeFleet(fleetPaths(dir));
  switch (observed.kind) {
    case "running":
      return observed.state;
    case "absent":
      throw new AppError(
        cliErrors.NO_FLEET,
        `no fleet is running in ${dir}; start one with \`flotilla up\``,
      );
    case "stale":
      throw new AppError(
        cliErrors.NO_FLEET,
        `the fleet in ${dir} is no longer running; start one with \`flotilla up\``,
      );
    case "broken":
      throw new AppError(
        cliErrors.FLEET_BROKEN,
        `the fleet in ${dir} is broken: ${observed.ended.map(({ name, logFile }) => `${name} (log ${logFile})`).join(", ")} has ended; run \`flotilla down\`, then \`flotilla up\``,
      );
  }
}

/** Selects a hub. */
export interface HubOptions {
  /** Folder of the local fleet, whose hub is used when `kubeconfig` is absent. */
  readonly dir: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** The kubeconfig of the selected hub. Throws as `runningFleet` does. */
export async function hubKubeconfig(
  { kubeconfig, context, dir }: HubOptions,
  config: CliConfig,
): Promise<KubeConfig> {
  const env = config.userEnvironment;
  if (kubeconfig !== undefined)
    return loadKubeconfig({ path: kubeconfig, ...(context !== undefined && { context }), env });
  const fleet = await runningFleet(dir);
  return loadKubeconfig({ path: fleet.kubeconfig, context: context ?? "hub", env });
}
