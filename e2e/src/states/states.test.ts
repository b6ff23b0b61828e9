/** The statuses of HelmOps, Clusters and ClusterGroups, on real control planes with the real Helm. */
import assert from "node:assert/strict";
import {
  apiVersion,
  type Cluster,
  type ClusterGroup,
  type ClusterStatus,
  clusterGroups,
  clusters,
} from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { configMaps } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { waitForObject } from "../harness/wait.ts";

const { fleet, charts } = await startFleetForFile({
  clusters: [{ region: "eu" }, { region: "us" }],
});
const { workspace } = fleet;
const [eu, us] = fleet.clusters;
assert.ok(eu !== undefined && us !== undefined);

charts.publish(
  await chartArchive({
    name: "shop",
    version: "1.0.0",
    templates: {
      "config.yaml":
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {version: {{ .Chart.Version | quote }}}\n",
      "deployment.yaml": [
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata: {name: shop}",
        "spec:",
        "  selector: {matchLabels: {app: shop}}",
        "  template:",
        "    metadata: {labels: {app: shop}}",
        "    spec: {containers: [{name: main, image: example.com/main:1}]}",
        "",
      ].join("\n"),
    },
  }),
);

function clusterThat(
  name: string,
  what: string,
  isDesired: (status: ClusterStatus) => boolean,
): Promise<Cluster> {
  return workspace.waitForCluster(name, what, ({ status }) => isDesired(status ?? {}));
}

function groupThat(
  what: string,
  isDesired: (status: NonNullable<ClusterGroup["status"]>) => boolean,
): Promise<ClusterGroup> {
  const ref = workspace.ref("everywhere");
  return waitForObject(fleet.hub, clusterGroups, ref, what, (group) =>
    isDesired(group.status ?? {}),
  );
}

test("a HelmOp lists its objects over all clusters, and Clusters and ClusterGroups count it", async () => {
  await fleet.hub.create(clusterGroups, {
    apiVersion,
    kind: "ClusterGroup",
    metadata: { namespace: workspaceNamespace, name: "everywhere" },
    spec: { selector: { matchExpressions: [{ key: "region", operator: "Exists" }] } },
  });
  await workspace.createHelmOp("shop", {
    helm: { repo: charts.url, chart: "shop", version: "1.0.0" },
    targets: [{ clusterGroup: "everywhere" }],
  });

  const { status } = await workspace.waitUntilReady("shop", "1.0.0", 2);

  const both = [`${workspaceNamespace}/cluster-1`, `${workspaceNamespace}/cluster-2`];
  const own = { namespace: "shop", state: "Ready", perClusterState: { ready: both } };
  assert.deepEqual(status?.resources, [
    {
      ...own,
      apiVersion: "v1",
      kind: "ConfigMap",
      type: "configmap",
      id: "shop/settings",
      name: "settings",
    },
    {
      ...own,
      apiVersion: "apps/v1",
      kind: "Deployment",
      type: "apps.deployment",
      id: "shop/shop",
      name: "shop",
    },
  ]);
  assert.equal(status.resourceCounts?.ready, 4);
  assert.deepEqual(Object.keys(status.perClusterResourceCounts ?? {}), both);
  const deployment = await workspace.bundleDeployment("cluster-1", "shop");
  assert.equal(deployment?.status?.display?.monitored, "True");
  assert.deepEqual(
    deployment.status.resources?.map(({ kind }) => kind),
    ["Deployment", "ConfigMap"],
  );

  const cluster = await clusterThat("cluster-1", "ready", ({ readyHelmOps }) => readyHelmOps === 1);
  assert.equal(cluster.status?.desiredReadyHelmOps, 1);
  assert.equal(findCondition(cluster.status.conditions, "Ready")?.status, "True");
  const group = await groupThat("ready", ({ display }) => display?.readyBundles === "2/2");
  assert.equal(group.status?.clusterCount, 2);
  assert.equal(group.status.display?.readyClusters, "2/2");
  assert.equal(group.status.resourceCounts?.ready, 4);
});

test("an object that is missing in one cluster is reported with that cluster, until it is back", async () => {
  const settings = { namespace: "shop", name: "settings" };
  const before = await eu.client.reader.get(configMaps, settings);
  assert.ok(before !== undefined);
  await eu.client.delete(configMaps, settings);

  const reported = await workspace.waitForHelmOp(
    "shop",
    "reporting a missing object",
    ({ status }) => status?.resourceCounts?.missing === 1,
  );
  const missing = reported.status?.resources?.find(({ state }) => state === "Missing");
  assert.equal(missing?.id, "shop/settings");
  assert.equal(missing.message, "configmap.v1 shop/settings is missing");
  assert.deepEqual(missing.perClusterState, {
    missing: [`${workspaceNamespace}/cluster-1`],
    ready: [`${workspaceNamespace}/cluster-2`],
  });
  assert.equal(
    findCondition(reported.status?.conditions, "Ready")?.message,
    "NotReady(1) [Cluster fleet-default/cluster-1: configmap.v1 shop/settings is missing]",
  );
  const group = await groupThat(
    "listing the cluster",
    ({ nonReadyClusterCount }) => nonReadyClusterCount === 1,
  );
  assert.deepEqual(group.status?.nonReadyClusters, ["cluster-1"]);

  const { uid: _, resourceVersion: __, ...metadata } = before.metadata;
  await eu.client.create(configMaps, { ...before, metadata });
  await workspace.waitUntilReady("shop", "1.0.0", 2);
  await groupThat("ready again", ({ nonReadyClusterCount }) => nonReadyClusterCount === 0);
});

test("a cluster whose agent is stopped is not ready, and its group names it", async () => {
  await us.stopAgent();

  const gone = await clusterThat(
    "cluster-2",
    "offline",
    ({ conditions }) => findCondition(conditions, "Ready")?.reason === "Offline",
  );
  const ready = findCondition(gone.status?.conditions, "Ready");
  assert.equal(ready?.status, "Unknown");
  assert.match(ready.message ?? "", /^the agent is not connected since \S+; 1\/1 were ready then$/);
  const group = await groupThat(
    "listing it",
    ({ nonReadyClusters }) => nonReadyClusters?.join() === "cluster-2",
  );
  assert.match(
    findCondition(group.status?.conditions, "Ready")?.message ?? "",
    /^1 of 2 clusters have no agent connected: cluster-2$/,
  );

  await us.startAgent();
  await groupThat("ready again", ({ display }) => display?.readyClusters === "2/2");
});

test("a cluster that no longer matches a group is not counted there", async () => {
  await fleet.hub.patch(
    clusters,
    { namespace: workspaceNamespace, name: "cluster-2" },
    { type: "merge", body: { metadata: { labels: { region: null } } } },
  );

  const group = await groupThat("smaller", ({ clusterCount }) => clusterCount === 1);
  assert.equal(group.status?.clusterCount, 1);
  await groupThat("without its deployments", ({ display }) => display?.readyBundles === "1/1");
  await workspace.waitUntilReady("shop", "1.0.0", 1);
});
