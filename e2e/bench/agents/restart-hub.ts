/** The hub is killed and restarted: how fast its agents reconnect, and what they and the Clusters report meanwhile. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentsFleet, Lag } from "./agents-fleet.ts";
import type { AgentLine, Simulation } from "./simulation.ts";

export interface Restarted {
  /** From the start of the new process until it has accepted the last agent. */
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

const readLogEveryMs = 500;

/** Warnings of an agent while the hub does not respond, and when its process is killed. */
const awayPattern =
  /ECONNREFUSED|ECONNRESET|Connection dropped|socket hang up|No connection established/;

export async function restartHub(
  bench: AgentsFleet,
  simulation: Simulation,
  agents: number,
): Promise<Restarted> {
  const { fleet, clusters } = bench;
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
  // Not from the Clusters: they show the agents as connected all the time.
  let arrived: readonly number[] = [];
  while (arrived.length < agents) {
    await sleep(readLogEveryMs);
    arrived = await arrivals(fleet.hubLog, startedAt);
  }
  const backMs = (arrived.at(-1) ?? 0) - startedAt;
  stop();
  return {
    backMs,
    connectedByMs: arrived.map((at) => at - startedAt),
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
