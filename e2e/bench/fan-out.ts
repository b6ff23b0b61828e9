/** The cost of a thousand clusters on the hub, compared with the API server alone. */

import { clusterStatus } from "@flotilla/hub/fleet";
import { createDeploymentAggregates } from "@flotilla/hub/rules";
import { apiVersion, bundleDeployments, clusterGroups, clusters } from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import { keyOf, namespaces } from "@flotilla/shared/kube/objects";
import { type BenchFleet, inParallel, timed, untilCount } from "./measure/bench-fleet.ts";
import { type Figure, median } from "./measure/figures.ts";
import { requestCounts, since } from "./measure/request-counts.ts";

/** The number of Clusters that `createClusters` makes. */
export const many = 1_000;
const atATime = 32;
const rounds = 3;

/** A namespace without Bundles, so that the hub only creates the namespaces of these Clusters. */
const bareWorkspace = "bench-bare";

/** The hub is stopped for the baseline, so that it is the API server's alone. */
export async function addClusters(bench: BenchFleet): Promise<readonly Figure[]> {
  const { fleet } = bench;
  const ours: number[] = [];
  const withoutStatus: number[] = [];
  const bare: number[] = [];
  await fleet.stopHub();
  await fleet.hub.create(namespaces, { metadata: { name: bareWorkspace } });
  for (let round = 0; round < rounds; round += 1) {
    const created = await timed(async () => {
      await createClusters(bench, bareWorkspace, round);
      await inParallel(many, atATime, (index) =>
        fleet.hub.create(namespaces, { metadata: { name: `bench-bare-${round}-${index}` } }),
      );
    });
    withoutStatus.push(created);
    bare.push(created + (await timed(() => writeStatuses(bench, bareWorkspace, round))));
    // The hub would find a namespace for each when it starts.
    await inParallel(many, atATime, (index) =>
      fleet.hub.delete(clusters, { namespace: bareWorkspace, name: clusterName(round, index) }),
    );
  }
  await fleet.startHub();
  await fleet.hub.create(clusterGroups, {
    apiVersion,
    kind: "ClusterGroup",
    metadata: { namespace: workspaceNamespace, name: "many" },
    spec: { selector: { matchExpressions: [{ key: "bench", operator: "Exists" }] } },
  });
  const before = await requestCounts(bench);
  for (let round = 0; round < rounds; round += 1) {
    ours.push(
      await timed(async () => {
        await createClusters(bench, workspaceNamespace, round);
        await untilCount(
          bench.clusters,
          many,
          ({ metadata, status }) =>
            metadata.labels?.["bench"] === `round-${round}` && status?.namespace !== undefined,
        );
      }),
    );
  }
  const created = since(before, await requestCounts(bench)).find(([what]) =>
    /^PUT.* clustergroups status$/.test(what),
  );
  const seconds = ours.reduce((sum, ms) => sum + ms, 0) / 1_000;
  const baseline = median(bare);
  return [
    {
      what: `writes of the ClusterGroup that ${rounds * many} of them belong to`,
      unit: "writes",
      value: created?.[1] ?? 0,
      // Five at once, then one a second.
      bar: 5 + Math.ceil(seconds),
    },
    {
      what: `${many} Clusters added until all have their namespace`,
      unit: "ms",
      value: median(ours),
      baseline: { what: `${many} bare Clusters, Namespaces and statuses`, value: baseline },
      // One for each of the three writes that a cluster costs, see ADR 8.
      bar: 1.5 * baseline,
      detail: `of the baseline, without statuses: ${median(withoutStatus).toFixed(0)} ms`,
    },
  ];
}

/** `many` Clusters without agents, with the label `bench: round-N`. */
export function createClusters(
  { fleet }: BenchFleet,
  namespace: string,
  round: number,
): Promise<void> {
  return inParallel(many, atATime, (index) =>
    fleet.hub.create(clusters, {
      apiVersion,
      kind: "Cluster",
      metadata: {
        namespace,
        name: clusterName(round, index),
        labels: { bench: `round-${round}` },
      },
      spec: {},
    }),
  );
}

/** As the hub writes it for a Cluster without an agent. */
function writeStatuses(
  { fleet, clusters: { store } }: BenchFleet,
  namespace: string,
  round: number,
): Promise<void> {
  const at = new Date().toISOString();
  return inParallel(many, atATime, async (index) => {
    const name = clusterName(round, index);
    const cluster = store.get(keyOf({ namespace, name }));
    if (cluster === undefined) throw new Error(`the watch has not delivered the Cluster ${name}`);
    const status = clusterStatus({
      cluster,
      namespace: { kind: "own", name: clusterNamespaceName(namespace, name) },
      summary: { ready: 0, desiredReady: 0 },
      aggregate: createDeploymentAggregates().ofCluster(""),
      coverage: { isScheduled: false, isActive: false, invalid: [] },
      now: at,
    });
    await fleet.hub.replace(clusters, { ...cluster, status }, { subresource: "status" });
  });
}

function clusterName(round: number, index: number): string {
  return `many-${round}-${index}`;
}

/** After `addClusters`. */
export async function oneToMany(bench: BenchFleet): Promise<readonly Figure[]> {
  const { fleet } = bench;
  const digest = `sha256:${"0".repeat(64)}`;
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const name = `to-many-${round}`;
    bare.push(
      await timed(() =>
        inParallel(many, atATime, (index) =>
          fleet.hub.create(bundleDeployments, {
            apiVersion,
            kind: "BundleDeployment",
            metadata: {
              namespace: clusterNamespaceName(workspaceNamespace, clusterName(rounds - 1, index)),
              name: `bare-${name}`,
            },
            spec: { deploymentID: digest, stagedDeploymentID: digest },
          }),
        ),
      ),
    );
    ours.push(
      await timed(async () => {
        await bench.createHelmOp(name, "config", [
          { clusterSelector: { matchLabels: { bench: `round-${rounds - 1}` } } },
        ]);
        await untilCount(bench.deployments, many, ({ metadata }) => metadata.name === name);
      }),
    );
  }
  const baseline = median(bare);
  return [
    {
      what: `1 HelmOp to ${many} clusters until all BundleDeployments are there`,
      unit: "ms",
      value: median(ours),
      baseline: { what: `${many} bare creates`, value: baseline },
      bar: 1.5 * baseline,
    },
  ];
}
