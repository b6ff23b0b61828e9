/** What a fleet of one size costs each process: connected, and while a change reaches all of it. */
import { startAgentsFleet } from "../agents/agents-fleet.ts";
import { bareWrites } from "../agents/bare-writes.ts";
import { endOfHub } from "../measure/end-of-hub.ts";
import { processorMs } from "../measure/processor.ts";
import { type Changed, changed } from "../rollouts/changed.ts";
import { type ByProcess, memoryOf, planePid } from "../rollouts/processes.ts";
import { connectStagedFleet, quarters, type StagedFleet } from "../rollouts/staged-fleet.ts";

export interface OneSize {
  readonly clusters: number;
  /** HelmOps for all clusters. */
  readonly apps: number;
  /** A change of one of them, all at once, and in four stages of a quarter each. */
  readonly all: Changed;
  readonly staged: Changed;
  /** The three writes of each cluster that a change takes, with no hub, ms. */
  readonly bareMs: number;
  /** What the API server needed for these, ms of processor. */
  readonly bareProcessorMs: number;
  /** After garbage collection in the hub, MB. */
  readonly memory: ByProcess;
  /**
   * What etcd has of these clusters, as JSON: now, and what the change all at once has added as history, which stays until etcd is
   * compacted.
   */
  readonly storedBytes: { readonly now: number; readonly change: number };
}

export async function oneSize(clusters: number, apps: number): Promise<OneSize> {
  const bench = await startAgentsFleet();
  try {
    const fleet = await connectStagedFleet(bench, clusters, apps);
    try {
      return await Promise.race([measure(fleet, apps), endOfHub(bench)]);
    } finally {
      await fleet.observer.close();
    }
  } finally {
    await bench.close();
  }
}

async function measure(fleet: StagedFleet, apps: number): Promise<OneSize> {
  const { bench, agents: clusters } = fleet;
  const inStage = Math.ceil(clusters / 4);
  // Not counted: code is loaded.
  await changed(fleet, quarters(clusters), inStage);
  const all = await changed(fleet, null, clusters);
  const staged = await changed(fleet, quarters(clusters), inStage);
  const storedBytes = { now: await storedNow(fleet), change: history(all) };
  const memory = { ...(await memoryOf(fleet)), hub: await bench.hubMemoryMb() };
  // The writes alone, without agents that look for the hub meanwhile.
  await bench.fleet.stopHub();
  await fleet.simulation.end();
  const apiServer = planePid(fleet, "kube-apiserver");
  const before = await processorMs(apiServer);
  const bareMs = await bareWrites(bench, clusters);
  const bareProcessorMs = (await processorMs(apiServer)) - before;
  return { clusters, apps, all, staged, bareMs, bareProcessorMs, memory, storedBytes };
}

/** Clusters with their namespaces and BundleDeployments: nothing else grows with the number of clusters. */
async function storedNow({ bench }: StagedFleet): Promise<number> {
  const paths = [
    "/api/v1/namespaces",
    "/apis/fleet.cattle.io/v1alpha1/clusters",
    "/apis/fleet.cattle.io/v1alpha1/bundledeployments",
  ];
  let bytes = 0;
  for (const path of paths) bytes += Buffer.byteLength(await bench.fleet.hub.raw(path));
  return bytes;
}

function history({ writes, storedBytes }: Changed): number {
  return [...writes]
    .filter(([what]) => what.includes("bundledeployments"))
    .reduce((sum, [, count]) => sum + count * storedBytes, 0);
}
