/** A hub without clusters of its own, for simulated agents, and what is read of it. */
import { join } from "node:path";
import { startTestFleet, type TestFleet } from "../../src/testing/fleet.ts";
import { type WatchedObjects, watchObjects } from "../watched-objects.ts";
import { inspectorEnvironment, settledMemoryMb } from "./settled-memory.ts";
import { type Simulation, startSimulation } from "./simulation.ts";

export interface AgentsFleet extends WatchedObjects {
  readonly fleet: TestFleet;
  simulate(name: string, agents: number): Promise<Simulation>;
  /** Afterwards the hub works slower, by a third, until it is started anew. */
  hubMemoryMb(): Promise<number>;
  startHubAnew(): Promise<void>;
  /** 99th percentile since it was asked last, ms. */
  hubLagMs(): Promise<number>;
  /** Since the hub's process began, seconds. */
  hubCpu(): Promise<number>;
}

export async function startAgentsFleet(): Promise<AgentsFleet> {
  const fleet = await startTestFleet({ clusters: [], hubEnvironment: inspectorEnvironment });
  const watched = await watchObjects(fleet.hub);
  const simulations: Simulation[] = [];

  async function metric(name: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${fleet.hubPorts.http}/metrics`);
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await answer.text())?.[1]);
  }

  return {
    fleet,
    ...watched,
    async simulate(name, agents) {
      const simulation = await startSimulation({
        kubeconfig: fleet.hubPlane.kubeconfig,
        name,
        agents,
        bundles: 1,
        latency: "100ms",
        logFile: join(fleet.dir, "logs", `${name}.log`),
        environment: { HOME: fleet.dir, PATH: process.env["PATH"] ?? "" },
      });
      simulations.push(simulation);
      return simulation;
    },
    hubMemoryMb: () => settledMemoryMb(fleet.hubProcess().identity.pid, fleet.hubLog),
    async startHubAnew() {
      await fleet.stopHub();
      await fleet.startHub();
    },
    hubLagMs: async () => (await metric("nodejs_eventloop_lag_p99_seconds")) * 1000,
    hubCpu: () => metric("process_cpu_seconds_total"),
    async close() {
      for (const simulation of simulations) await simulation.end();
      await watched.close();
      await fleet.close();
    },
  };
}
