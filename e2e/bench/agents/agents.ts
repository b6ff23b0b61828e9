/** The cost of thousands of connected agents, and how fast they connect, reconnect and are up to date. */
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { endOfHub } from "../measure/end-of-hub.ts";
import type { Figure } from "../measure/figures.ts";
import {
  changeFigures,
  connectFigures,
  idleFigures,
  readyFigures,
  restartFigures,
} from "./agent-figures.ts";
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
  readonly report: (figures: readonly Figure[]) => void;
}

/** The size of a message with a content as small as the HelmOp has. */
const messageBytes = 700;
const idleMs = 60_000;
const bareIdleMs = 15_000;
const changes = 3;

/** Calls `report` with figures as soon as they are measured. */
export async function connectedAgents(options: AgentsOptions): Promise<void> {
  const bare = await measureBareGrpc(options.agents, messageBytes, () => sleep(bareIdleMs));
  const bench = await startAgentsFleet();
  try {
    await Promise.race([measure(bench, bare, options), endOfHub(bench)]);
  } finally {
    await bench.close();
  }
}

async function measure(
  bench: AgentsFleet,
  bare: BareFigures,
  { agents, plotFile, report }: AgentsOptions,
): Promise<void> {
  const measured = { agents, bare };
  const one = await bench.simulate("one", 1, { keep: false });
  const requestsOfOne = await idleRequests(bench, idleMs);
  await one.end();

  const beforeMb = await bench.hubMemoryMb();
  await bench.startHubAnew();
  const memory = sampleMemory(bench);
  await bench.hubLag();
  const cpuBefore = await bench.hubCpu();
  const simulation = await bench.simulate("many", agents, { keep: true });
  const lag = await bench.hubLag();
  const cpu = (await bench.hubCpu()) - cpuBefore;
  const memoryByAgents = await memory.end();
  report(connectFigures(measured, { lag, cpu }));

  const idleCpuBefore = await bench.hubCpu();
  const idleBegun = performance.now();
  const requestsOfAll = await idleRequests(bench, idleMs);
  const idleSeconds = (performance.now() - idleBegun) / 1_000;
  const idle = {
    lag: await bench.hubLag(),
    cpu: ((await bench.hubCpu()) - idleCpuBefore) / idleSeconds,
  };
  report(idleFigures(measured, { ...idle, requestsOfOne, requestsOfAll }));

  const changed: Changed[] = [];
  for (let round = 0; round < changes; round += 1)
    changed.push(await changeForAll(bench, simulation, { agents, round }));
  const withAllMb = await bench.hubMemoryMb();
  report(changeFigures(measured, changed, ((withAllMb - beforeMb) * 1024) / agents));

  const restarted = await restartHub(bench, simulation, agents);
  report(restartFigures(measured, restarted));

  await simulation.end();
  report(readyFigures(measured, changed, await bareWrites(bench, agents)));
  if (plotFile !== undefined) {
    const { connectedByMs } = restarted;
    const plotted = { agents, memoryByAgents, beforeMb, bare, connectedByMs };
    await writeFile(plotFile, drawAgents(plotted));
  }
}
