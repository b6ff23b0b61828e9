/** `flotilla uninstall`: empties a fleet, so that its charts can be uninstalled. */
import { connectKube } from "@flotilla/shared/kube/client";
import { systemClock } from "@flotilla/shared/time";
import type { CliConfig } from "../config.ts";
import { type HubOptions, hubKubeconfig } from "../fleet/index.ts";
import {
  assertMayEmpty,
  describeFleetObjects,
  describeRest,
  emptyFleet,
  readFleetObjects,
} from "../uninstall/index.ts";

export interface UninstallOptions extends HubOptions {
  readonly keepReleases: boolean;
  /** Without it nothing is changed. */
  readonly yes: boolean;
  /** How long nothing may have changed. */
  readonly timeoutMs: number;
}

/** Throws FLEET_LEASE_EXISTS, FLUX_LEASE_EXISTS, HUB_NOT_RUNNING or UNINSTALL_INCOMPLETE. */
export async function uninstall(options: UninstallOptions, config: CliConfig): Promise<void> {
  const { keepReleases, yes, timeoutMs } = options;
  const rest = connectKube(await hubKubeconfig(options, config));
  const stop = new AbortController();
  const { signal } = stop;
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  try {
    await assertMayEmpty(rest, { keepReleases }, signal);
    const found = describeFleetObjects(await readFleetObjects(rest, signal));
    const what = keepReleases ? "leaves all releases as they are" : "uninstalls all releases";
    if (found !== undefined) print(`This deletes ${found} on ${rest.server}, and ${what}.`);
    if (!yes) {
      print("Nothing was changed. To continue, add --yes.");
      return;
    }
    const clock = systemClock;
    const left = await emptyFleet({ rest, keepReleases, timeoutMs, clock, print }, signal);
    process.stdout.write(describeRest(left, { keepReleases }));
  } finally {
    stop.abort();
    await rest.close();
  }
}
