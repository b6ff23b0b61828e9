/** A hub without clusters of its own, for simulated agents, and what is read of it. */
import { join } from "node:path";
import { startTestFleet, type TestFleet } from "../../src/harness/fleet.ts";
import { imagePrograms } from "../measure/image-programs.ts";
import { type WatchedObjects, watchObjects } from "../measure/watched-objects.ts";
import { inspectorEnvironment, settledMemoryMb } from "./settled-memory.ts";
import { type Simulation, type SimulationSpec, startSimulation } from "./simulation.ts";

/** ms. */
export interface Lag {
  /** 99th percentile. */
  readonly p99Ms: number;
  readonly longestMs: number;
}

export interface AgentsFleet extends WatchedObjects {
  readonly fleet: TestFleet;
  /** See SimulationSpec. */
  simulate(
    name: string,
    agents: number,
    options: Pick<SimulationSpec, "keep" | "planGroups"> & Partial<Pick<SimulationSpec, "bundles">>,
  ): Promise<Simulation>;
  /** Afterwards the hub works slower, by a third, until it is restarted. */
  hubMemoryMb(): Promise<number>;
  startHubAnew(): Promise<void>;
  /** The lag of its event loop, since the last read. */
  hubLag(): Promise<Lag>;
  /** Since the hub's process began, seconds. */
  hubCpu(): Promise<number>;
}

/** `replicas`: of the hub; default: one. */
export async function startAgentsFleet({
  replicas = 1,
}: {
  readonly replicas?: number;
} = {}): Promise<AgentsFleet> {
  const programs = await imagePrograms();
  const fleet = await startTestFleet({
    clusters: [],
    entryFiles: () => programs,
    // Not the default port: another hub on this machine may have it.
    hubFlags: () => ["--replica-listen=127.0.0.1:0"],
    ownPlanes: true,
    hubEnvironment: inspectorEnvironment,
    replicas,
  });
  const watched = await watchObjects(fleet.hub);
  const simulations: Simulation[] = [];

  /** From one read, because a read resets the measurement of the lag. */
  async function metrics(): Promise<(name: string) => number> {
    const answer = await fetch(`http://127.0.0.1:${fleet.hubPorts.internal}/metrics`);
    const text = await answer.text();
    return (name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  }

  return {
    fleet,
    ...watched,
    async simulate(name, agents, options) {
      const simulation = await startSimulation({
        kubeconfig: fleet.hubPlane.kubeconfig,
        name,
        agents,
        bundles: 1,
        latency: "100ms",
        ...options,
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
    async hubLag() {
      const metric = await metrics();
      return {
        p99Ms: metric("nodejs_eventloop_lag_p99_seconds") * 1_000,
        longestMs: metric("nodejs_eventloop_lag_max_seconds") * 1_000,
      };
    },
    hubCpu: async () => (await metrics())("process_cpu_seconds_total"),
    async close() {
      for (const simulation of simulations) await simulation.end();
      await watched.close();
      await fleet.close();
    },
  };
}
