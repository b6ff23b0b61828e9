/** The cost of thousands of connected agents, and how fast they connect, reconnect and are up to date. */
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { endOfHub } from "../measure/end-of-hub.ts";
import type { Figure } from "../measure/figures.ts";
import { agentFigures } from "./agent-figures.ts";
import { type AgentsFleet, startAgentsFleet } from "./agents-fleet.ts";
import { type BareFigures, measureBareGrpc } from "./bare-grpc.ts";
import { bareWrites } from "./bare-writes.ts";
import { type Changed, changeForAll } from "./change-for-all.ts";
import { idleRequests } from "./idle-requests.ts";
import { drawAgents } from "./plot.ts";
import { restartHub } from "./restart-hub.ts";
import { sampleMemory } from "./sample-memory.ts";

export interface AgentsOptions {
  readonly agents: number;
  /** The file for the plot; absent: none. */
  readonly plotFile?: string;
}

/** Of a message with a content as small as the HelmOp has. */
const messageBytes = 700;
const idleMs = 60_000;
const bareIdleMs = 15_000;
const changes = 3;

export async function connectedAgents(options: AgentsOptions): Promise<readonly Figure[]> {
  const bare = await measureBareGrpc(options.agents, messageBytes, () => sleep(bareIdleMs));
  const bench = await startAgentsFleet();
  try {
    return await Promise.race([measure(bench, bare, options), endOfHub(bench)]);
  } finally {
    await bench.close();
  }
}

async function measure(
  bench: AgentsFleet,
  bare: BareFigures,
  { agents, plotFile }: AgentsOptions,
): Promise<readonly Figure[]> {
  const one = await bench.simulate("one", 1);
  const requestsOfOne = await idleRequests(bench, idleMs);
  await one.end();

  const beforeMb = await bench.hubMemoryMb();
  await bench.startHubAnew();
  const memory = sampleMemory(bench);
  await bench.hubLag();
  const cpuBefore = await bench.hubCpu();
  const simulation = await bench.simulate("many", agents);
  const connectLag = await bench.hubLag();
  const connectCpu = (await bench.hubCpu()) - cpuBefore;
  const memoryByAgents = await memory.end();

  const idleCpuBefore = await bench.hubCpu();
  const idleBegun = performance.now();
  const requestsOfAll = await idleRequests(bench, idleMs);
  const idleSeconds = (performance.now() - idleBegun) / 1_000;
  const idleLag = await bench.hubLag();
  const idleCpu = ((await bench.hubCpu()) - idleCpuBefore) / idleSeconds;

  const changed: Changed[] = [];
  for (let round = 0; round < changes; round += 1)
    changed.push(await changeForAll(bench, simulation, { agents, round }));
  const withAllMb = await bench.hubMemoryMb();
  const restarted = await restartHub(bench, simulation, agents);
  await simulation.end();
  const bareWritesMs = await bareWrites(bench, agents);

  if (plotFile !== undefined) {
    const { connectedByMs } = restarted;
    const plotted = { agents, memoryByAgents, beforeMb, bare, connectedByMs };
    await writeFile(plotFile, drawAgents(plotted));
  }
  return agentFigures({
    agents,
    bare,
    kibPerAgent: ((withAllMb - beforeMb) * 1024) / agents,
    connectLag,
    connectCpu,
    idleLag,
    idleCpu,
    requestsOfOne,
    requestsOfAll,
    changed,
    restarted,
    bareWritesMs,
  });
}
