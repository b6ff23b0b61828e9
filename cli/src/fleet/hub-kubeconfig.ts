/** Which hub a command speaks to: the one of the kubeconfig that it is given, else the local fleet's. */
import { type KubeConfig } from "@flotilla/shared/kube/client/kubeconfig.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/client/load-kubeconfig.ts";
import type { CliConfig } from "../config.ts";
import { runningFleet } from "./running-fleet.ts";

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
