/** The hub is killed and restarted: how fast its agents reconnect, and what they and the Clusters report meanwhile. */
import { readFile } from "node:fs/promises";
import { untilCount } from "../measure/bench-fleet.ts";
import type { AgentsFleet, Lag } from "./agents-fleet.ts";
import type { AgentLine, Simulation } from "./simulation.ts";

export interface Restarted {
  /** From the start of the new process until all Clusters are connected. */
  readonly backMs: number;
  /** When each of them was back, ms from the start of the new process, in order. */
  readonly connectedByMs: readonly number[];
  /** Warnings of agents, except those that the hub was unavailable. */
  readonly errors: readonly string[];
  /** Clusters that were recorded as offline meanwhile. */
  readonly offline: number;
  readonly lag: Lag;
  readonly hubCpu: number;
}

/** Warnings of an agent while the hub does not respond, and when its process is killed. */
const awayPattern =
  /ECONNREFUSED|ECONNRESET|Connection dropped|socket hang up|No connection established/;

export async function restartHub(
  bench: AgentsFleet,
  simulation: Simulation,
  agents: number,
): Promise<Restarted> {
  const { fleet, clusters } = bench;
  const epochs = new Map(
    clusters.store.list().map(({ metadata, status }) => [metadata.uid, status?.agent?.epoch ?? 0]),
  );
  const offline = new Set<string>();
  const stop = clusters.onChange(({ key, after }) => {
    if (after?.status?.agent?.connected === false && !key.includes("one-")) offline.add(key);
  });
  const killedAt = Date.now();
  const hub = fleet.hubProcess();
  process.kill(hub.identity.pid, "SIGKILL");
  await hub.exited;
  const startedAt = Date.now();
  await fleet.startHub();
  await bench.hubLag();
  await untilCount(clusters, agents, ({ metadata, status }) => {
    const before = epochs.get(metadata.uid) ?? 0;
    return status?.agent?.connected === true && (status.agent.epoch ?? 0) > before;
  });
  const backMs = Date.now() - startedAt;
  stop();
  return {
    backMs,
    connectedByMs: (await arrivals(fleet.hubLog, startedAt)).map((at) => at - startedAt),
    errors: (await simulation.log())
      .filter(({ at, level }) => at > killedAt && level !== "info")
      .filter((line) => !isAway(line))
      .map(({ msg, err }) => `${msg}: ${err}`),
    offline: offline.size,
    lag: await bench.hubLag(),
    hubCpu: await bench.hubCpu(),
  };
}

function isAway({ err }: AgentLine): boolean {
  return awayPattern.test(err);
}

async function arrivals(hubLog: string, sinceMs: number): Promise<readonly number[]> {
  const lines = (await readFile(hubLog, "utf8")).split("\n");
  return lines
    .filter((line) => line.includes('"agent connected"'))
    .map((line) => Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? ""))
    .filter((at) => at >= sinceMs)
    .toSorted((a, b) => a - b);
}
