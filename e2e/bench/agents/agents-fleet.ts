/** A hub without clusters of its own, for simulated agents, and what is read of it. */
import { join } from "node:path";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { bundleDeployments, clusters, helmOps } from "@flotilla/shared/api/resources.ts";
import { createInformer, type Informer } from "@flotilla/shared/kube/informer.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/object.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { startTestFleet, type TestFleet } from "../../src/testing/fleet.ts";
import { inspectorEnvironment, settledMemoryMb } from "./settled-memory.ts";
import { type Simulation, startSimulation } from "./simulation.ts";

export interface AgentsFleet {
  readonly fleet: TestFleet;
  readonly helmOps: Informer<HelmOp>;
  readonly deployments: Informer<BundleDeployment>;
  readonly clusters: Informer<Cluster>;
  simulate(name: string, agents: number): Promise<Simulation>;
  hubMemoryMb(): Promise<number>;
  /** 99th percentile since it was asked last, ms. */
  hubLagMs(): Promise<number>;
  /** Since the hub's process began, seconds. */
  hubCpu(): Promise<number>;
  close(): Promise<void>;
}

export async function startAgentsFleet(): Promise<AgentsFleet> {
  const fleet = await startTestFleet({ clusters: [], hubEnvironment: inspectorEnvironment });
  const stop = new AbortController();
  const watches: Promise<void>[] = [];
  function watch<T extends KubeObject>(resource: Resource<T>): Informer<T> {
    const informer = createInformer<T>({ rest: fleet.hub, resource, log: silentLog() });
    watches.push(informer.run(stop.signal));
    return informer;
  }
  const informers = {
    helmOps: watch(helmOps),
    deployments: watch(bundleDeployments),
    clusters: watch(clusters),
  };
  const simulations: Simulation[] = [];

  async function metric(name: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${fleet.hubPorts.http}/metrics`);
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await answer.text())?.[1]);
  }

  return {
    fleet,
    ...informers,
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
    hubLagMs: async () => (await metric("nodejs_eventloop_lag_p99_seconds")) * 1000,
    hubCpu: () => metric("process_cpu_seconds_total"),
    async close() {
      for (const simulation of simulations) await simulation.end();
      stop.abort();
      await Promise.all(watches);
      await fleet.close();
    },
  };
}
