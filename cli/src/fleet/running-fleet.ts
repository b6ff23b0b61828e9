/** The fleet that other commands speak to. */
import { fleetPaths } from "@flotilla/local/state/fleet-paths.ts";
import { type FleetState, observeFleet } from "@flotilla/local/state/fleet-state.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { type KubeConfig, loadKubeconfig } from "@flotilla/shared/kube/kubeconfig.ts";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";

/** Throws NO_FLEET or FLEET_BROKEN. */
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
        `the fleet in ${dir} is not running any more; start one with \`flotilla up\``,
      );
    case "broken":
      throw new AppError(
        cliErrors.FLEET_BROKEN,
        `of the fleet in ${dir}, ${observed.gone.map(({ name, logFile }) => `${name} (log ${logFile})`).join(", ")} has ended; \`flotilla down\` ends the rest`,
      );
  }
}

/** Which hub a command speaks to: the one of the kubeconfig that it is given, else the local fleet's. */

export interface HubOptions {
  /** The folder of the local fleet, whose hub is asked where no kubeconfig is given. */
  readonly dir: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

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
