/**
 * The bytes of one more cluster of a HelmOp in etcd, beyond those whose names fill the lists of its status. The agents of all
 * clusters but one are simulated: they report what that one reported.
 */
import {
  apiVersion,
  bundleDeployments,
  bundles,
  clusters,
  helmOps,
  maxCountedClusters,
} from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import { waitForObject } from "../src/harness/wait.ts";
import {
  type BenchChart,
  type BenchFleet,
  type ChartValues,
  oneCluster,
  untilCount,
} from "./measure/bench-fleet.ts";
import type { Figure } from "./measure/figures.ts";

const barBytes = 4 * 1024;
const valuesBytes = 100 * 1024;
/** As many as a HelmOp counts one by one. */
const played = Array.from({ length: maxCountedClusters }, (_, index) => `played-${index + 10}`);
const oneMore = "played-more";

export async function storedBytes(bench: BenchFleet): Promise<readonly Figure[]> {
  const { hub } = bench.fleet;
  for (const name of [...played, oneMore]) {
    await hub.create(clusters, {
      apiVersion,
      kind: "Cluster",
      metadata: { namespace: workspaceNamespace, name },
      spec: {},
    });
  }
  const cases: readonly (readonly [what: string, chart: BenchChart, values: ChartValues])[] = [
    ["with no values", "deployment", {}],
    ["with 100 KB of values", "deployment", { filler: filler(valuesBytes) }],
    ["with a chart of 80 objects", "large", {}],
    ["with a chart of 80 objects, 12 of them not ready", "large", { stuck: 12 }],
  ];
  const figures: Figure[] = [];
  for (const [index, [what, chart, values]] of cases.entries()) {
    const name = `bytes-${index}`;
    await bench.createHelmOp(name, chart, oneCluster, { values });
    await settled(bench, name, 1);
    await addClusters(bench, name, played);
    const before = await sizes(bench, name);
    await addClusters(bench, name, [...played, oneMore]);
    const after = await sizes(bench, name);
    const grown = [...after].map(
      ([kind, bytes]) => [kind, bytes - (before.get(kind) ?? 0)] as const,
    );
    figures.push({
      what: `etcd bytes for one more cluster of a HelmOp ${what}`,
      unit: "bytes",
      value: grown.reduce((sum, [, bytes]) => sum + bytes, 0),
      // Deployments that are not ready have a message.
      ...(values["stuck"] === undefined && { bar: barBytes }),
      detail: grown.map(([kind, bytes]) => `${kind}: ${bytes}`).join(", "),
    });
  }
  return figures;
}

/** Besides the one with an agent. */
async function addClusters(
  bench: BenchFleet,
  name: string,
  others: readonly string[],
): Promise<void> {
  const targets = [...(oneCluster ?? []), ...others.map((clusterName) => ({ clusterName }))];
  await bench.fleet.hub.patch(
    helmOps,
    { namespace: workspaceNamespace, name },
    { type: "merge", body: { spec: { targets } } },
  );
  for (const cluster of others) await playAgent(bench, name, cluster);
  await settled(bench, name, others.length + 1);
}

/** Resolves when all clusters have reported, ready or not. */
async function settled(bench: BenchFleet, name: string, clusterCount: number): Promise<void> {
  await untilCount(
    bench.helmOps,
    1,
    ({ metadata, status }) =>
      metadata.name === name &&
      status?.desiredReadyClusters === clusterCount &&
      (status.resourceCounts?.desiredReady ?? 0) > 0 &&
      (status.resourceCounts?.missing ?? 0) === 0 &&
      status.summary?.waitApplied === undefined,
  );
  await waitForObject(
    bench.fleet.hub,
    bundles,
    { namespace: workspaceNamespace, name },
    "reported by every cluster",
    (bundle) =>
      bundle.status?.summary?.desiredReady === clusterCount &&
      bundle.status.summary.waitApplied === undefined,
  );
}

async function playAgent(
  { fleet, deployments }: BenchFleet,
  name: string,
  cluster: string,
): Promise<void> {
  const [first, own] = ["cluster-1", cluster].map((each) =>
    clusterNamespaceName(workspaceNamespace, each),
  );
  await untilCount(
    deployments,
    1,
    ({ metadata }) => metadata.name === name && metadata.namespace === own,
  );
  const reported = deployments.store.get(`${first}/${name}`);
  const deployment = deployments.store.get(`${own}/${name}`);
  if (deployment === undefined || reported?.status === undefined)
    throw new Error(`the BundleDeployments of ${name} are not there`);
  await fleet.hub.replace(
    bundleDeployments,
    { ...deployment, status: reported.status },
    { subresource: "status" },
  );
}

/** Objects as the API server gives them, which is how it stores them; those that are there. */
async function sizes(
  { fleet, deployments }: BenchFleet,
  name: string,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const clusterNamespace = clusterNamespaceName(workspaceNamespace, oneMore);
  for (const [plural, namespace] of [
    ["bundledeployments", clusterNamespace],
    ["helmops", workspaceNamespace],
    ["bundles", workspaceNamespace],
  ] as const) {
    if (
      namespace === clusterNamespace &&
      deployments.store.get(`${clusterNamespace}/${name}`) === undefined
    )
      continue;
    const path = `fleet.cattle.io/v1alpha1/namespaces/${namespace}/${plural}/${name}`;
    const key = `/registry/fleet.cattle.io/${plural}/${namespace}/${name}`;
    found.set(plural, key.length + Buffer.byteLength(await fleet.hub.raw(`/apis/${path}`)));
  }
  return found;
}

/** Text that does not compress well, the same every time. */
function filler(bytes: number): string {
  let state = 1;
  return Array.from({ length: bytes }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(97 + (state % 26));
  }).join("");
}
