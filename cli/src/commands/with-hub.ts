/** The connection of a command to its hub. */
import { connectKube, type KubeRest } from "@flotilla/shared/kube/client";
import type { CliConfig } from "../config.ts";
import { type HubOptions, hubKubeconfig } from "../fleet/index.ts";

/** Runs with a client of the selected hub, with the credentials of the user, and closes it. */
export async function withHub<R>(
  options: HubOptions,
  config: CliConfig,
  run: (rest: KubeRest) => Promise<R>,
): Promise<R> {
  const rest = connectKube(await hubKubeconfig(options, config));
  try {
    return await run(rest);
  } finally {
    await rest.close();
  }
}
