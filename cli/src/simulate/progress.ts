/** What a person reads while a simulation runs. Pure. */
import type { FleetCounts } from "@flotilla/agent/simulation/fleet-counts.ts";

export interface Progress extends FleetCounts {
  readonly agents: number;
  /** The last warning of any agent. */
  readonly trouble: string;
}

/** One line: how many are connected, how their deployments are, and why some are not. */
export function describeProgress({ agents, connected, deployments, trouble }: Progress): string {
  const { ready, failed, other } = deployments;
  const all = ready + failed + other;
  return [
    `${connected} of ${agents} agents connected`,
    ...(all > 0 ? [`, ${ready} of ${all} deployments ready`] : []),
    ...(failed > 0 ? [`, ${failed} failed`] : []),
    ...(trouble !== "" && (connected < agents || failed > 0) ? [`; last warning: ${trouble}`] : []),
  ].join("");
}

/** The warning in a line of the agents' log; undefined where the line is none. */
export function warningIn(line: string): string | undefined {
  if (!/"level":"(warn|error)"/.test(line)) return undefined;
  const { agent, err, msg }: Record<string, unknown> = JSON.parse(line);
  return [agent, msg, err].filter((part) => typeof part === "string").join(": ");
}
