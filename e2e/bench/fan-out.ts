/** What a thousand clusters cost the hub, beside the API server's raw speed. */
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names.ts";
import { apiVersion, bundleDeployments, clusters } from "@flotilla/shared/api/resources.ts";
import { namespaces } from "@flotilla/shared/kube/core-resources.ts";
import { type BenchFleet, inParallel, timed, until } from "./bench-fleet.ts";
import { type Figure, median } from "./figures.ts";

const many = 1_000;
const atATime = 32;
const rounds = 3;

/** A namespace that the hub takes for no workspace of a Bundle, so that the bare Clusters are only housed. */
const bareWorkspace = "bench-bare";

/** Stops the hub for the baseline, so that it is the API server's alone. */
export async function addClusters(bench: BenchFleet): Promise<readonly Figure[]> {
  const { fleet } = bench;
  const cluster = (namespace: string, index: number) => ({
    apiVersion,
    kind: "Cluster",
    metadata: { namespace, name: `many-${index}`, labels: { bench: "many" } },
    spec: {},
  });
  await fleet.stopHub();
  await fleet.hub.create(namespaces, { metadata: { name: bareWorkspace } });
  const bare = await timed(async () => {
    await inParallel(many, atATime, (index) =>
      fleet.hub.create(clusters, cluster(bareWorkspace, index)),
    );
    await inParallel(many, atATime, (index) =>
      fleet.hub.create(namespaces, { metadata: { name: `bench-bare-${index}` } }),
    );
  });
  await inParallel(many, atATime, (index) =>
    fleet.hub.delete(clusters, { namespace: bareWorkspace, name: `many-${index}` }),
  );
  await fleet.startHub();
  const value = await timed(async () => {
    await inParallel(many, atATime, (index) =>
      fleet.hub.create(clusters, cluster(workspaceNamespace, index)),
    );
    await until(
      bench.clusters,
      () =>
        bench.clusters.store
          .list()
          .filter(
            ({ metadata, status }) =>
              metadata.labels?.["bench"] === "many" && status?.namespace !== undefined,
          ).length === many,
    );
  });
  return [
    {
      what: `${many} Clusters added until all have their namespace`,
      unit: "ms",
      value,
      baseline: { what: `${many} bare Clusters and ${many} Namespaces`, value: bare },
      bar: 2 * bare,
    },
  ];
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
              namespace: clusterNamespaceName(workspaceNamespace, `many-${index}`),
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
          { clusterSelector: { matchLabels: { bench: "many" } } },
        ]);
        await until(
          bench.deployments,
          () =>
            bench.deployments.store.list().filter(({ metadata }) => metadata.name === name)
              .length === many,
        );
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
