/** The local fleet and the hub that a command works on. */

import { existsSync } from "node:fs";
import { type FleetState, fleetPaths, observeFleet } from "@flotilla/local/state";
import { AppError } from "@flotilla/shared/errors";
import { type KubeConfig, loadKubeconfig } from "@flotilla/shared/kube/client";
import { listNames } from "@flotilla/shared/text";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { chooseHub, type HubOptions } from "./choose-hub.ts";

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
        `the fleet in ${dir} is broken: ${listNames(observed.ended.map(({ name, logFile }) => `${name} (log ${logFile})`))} has ended; run \`flotilla down\`, then \`flotilla up\``,
      );
  }
}

/**
 * The kubeconfig of the selected hub, and the local fleet that it is the hub of, if it is one. Throws as `runningFleet` does, and
 * KUBECONFIG_INVALID.
 */
export async function connectHub(
  options: HubOptions,
  config: CliConfig,
): Promise<{ readonly kubeconfig: KubeConfig; readonly fleet?: FleetState }> {
  const { userEnvironment: env } = config;
  const choice = chooseHub(options, { ...config, hasLocalFleet: existsSync(config.dir) });
  if (choice.kind === "kubeconfig") {
    const { paths: path, context } = choice;
    return {
      kubeconfig: await loadKubeconfig({ path, env, ...(context !== undefined && { context }) }),
    };
  }
  const fleet = await runningFleet(choice.dir);
  const kubeconfig = await loadKubeconfig({ path: fleet.kubeconfig, context: choice.context, env });
  return { kubeconfig, fleet };
}

/** The kubeconfig of the selected hub. Throws as `connectHub` does. */
export async function hubKubeconfig(options: HubOptions, config: CliConfig): Promise<KubeConfig> {
  return (await connectHub(options, config)).kubeconfig;
}
