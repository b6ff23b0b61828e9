/** The names in the hub's serving certificate: those that agents may reach it by. Pure but for the host's own name. */
import { hostname } from "node:os";
import type { HubConfig } from "../config.ts";

/** The advertised name comes first. */
export function serverNames(
  config: Pick<HubConfig, "advertise" | "serverNames">,
): readonly string[] {
  const advertised = /^\[?(.+?)\]?:\d+$/.exec(config.advertise)?.[1];
  return [
    ...new Set([
      ...(advertised === undefined ? [] : [advertised]),
      ...config.serverNames,
      hostname(),
      "localhost",
      "127.0.0.1",
    ]),
  ];
}
