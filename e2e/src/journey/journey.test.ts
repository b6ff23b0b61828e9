/** The product from end to end, on real control planes with the real Helm. One fleet for all of it. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startTestRegistry } from "@flotilla/local/testing";
import { apiVersion, bundleDeployments, bundles, type HelmOp, helmOps } from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { configMaps, deployments, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { chartArchive, configChart, deploymentChart } from "../harness/chart-archive.ts";
import { startChartServer } from "../harness/chart-server.ts";
import { startTestFleet, type TestCluster } from "../harness/fleet.ts";
import { pushChart } from "../harness/push-chart.ts";
import { helmOpThat, isReady, objectThat } from "../harness/wait.ts";

const fleet = await startTestFleet({ clusters: [{ env: "prod" }, { env: "dev" }] });
afterAll(() => fleet.close());
const charts = await startChartServer();
afterAll(() => charts.close());
const [prod, dev] = fleet.clusters;
assert.ok(prod !== undefined && dev !== undefined);

/** A HelmOp in the workspace of the fleet, in a namespace of its own name. */
async function createHelmOp(
  name: string,
  spec: Partial<HelmOp["spec"]> & { readonly helm: HelmOp["spec"]["helm"] },
): Promise<HelmOp> {
  return await fleet.hub.create(helmOps, {
    apiVersion,
    kind: "HelmOp",
    metadata: { namespace: workspaceNamespace, name },
    spec: { namespace: name, targets: [{ clusterSelector: {} }], ...spec },
  });
}

async function versionIn(cluster: TestCluster, name: string): Promise<string | undefined> {
  const config = await cluster.rest.get(configMaps, { namespace: name, name: `${name}-config` });
  return config?.data?.["version"];
}

/** How often Helm has installed or upgraded a release. */
async function revisionOf(cluster: TestCluster, name: string): Promise<number> {
  const records = await cluster.rest.list(secrets, {
    namespace: name,
    labelSelector: `owner=helm,name=${name}`,
  });
  return Math.max(0, ...records.items.map(({ metadata }) => Number(metadata.labels?.["version"])));
}

test("a HelmOp with a constraint is installed in both clusters, and both follow what is published", async () => {
  charts.publish(
    await configChart("follow", "0.1.4"),
    await configChart("follow", "0.1.5"),
    await configChart("follow", "0.2.0"),
  );

  await createHelmOp("follow", {
    helm: { repo: charts.url, chart: "follow", version: "0.1.x" },
    pollingInterval: "1s",
  });
  await helmOpThat(fleet.hub, "follow", "ready at 0.1.5", isReady("0.1.5", 2));
  assert.deepEqual(
    await Promise.all(fleet.clusters.map((cluster) => versionIn(cluster, "follow"))),
    ["0.1.5", "0.1.5"],
  );

  charts.publish(await configChart("follow", "0.1.6"));
  await helmOpThat(fleet.hub, "follow", "ready at 0.1.6", isReady("0.1.6", 2));
  assert.deepEqual(
    await Promise.all(fleet.clusters.map((cluster) => versionIn(cluster, "follow"))),
    ["0.1.6", "0.1.6"],
  );
  const bundle = await fleet.hub.get(bundles, { namespace: workspaceNamespace, name: "follow" });
  assert.equal(
    bundle?.spec.helm?.version,
    "0.1.6",
    "the Bundle holds the version, not the constraint",
  );
});

test("a HelmOp from an OCI registry is installed and followed", async (t) => {
  const registry = await startTestRegistry(t);
  const publish = async (version: string) =>
    pushChart(fleet.helm, await configChart("oci-web", version), `${registry.oci}/charts`);
  await publish("1.0.0");

  await createHelmOp("oci-web", {
    helm: { repo: `${registry.oci}/charts/oci-web`, version: "1.x" },
    pollingInterval: "1s",
  });
  await helmOpThat(fleet.hub, "oci-web", "ready at 1.0.0", isReady("1.0.0", 2));

  await publish("1.1.0");
  await helmOpThat(fleet.hub, "oci-web", "ready at 1.1.0", isReady("1.1.0", 2));
  assert.equal(await versionIn(prod, "oci-web"), "1.1.0");
});

test("of two clusters with different labels only the one that matches gets it, and values of its target reach it", async () => {
  charts.publish(await configChart("labelled", "1.0.0"));

  await createHelmOp("labelled", {
    helm: { repo: charts.url, chart: "labelled", version: "1.0.0", values: { greeting: "hi" } },
    targets: [
      {
        clusterSelector: { matchLabels: { env: "prod" } },
        helm: { values: { greeting: "hello prod" } },
      },
    ],
  });
  await helmOpThat(fleet.hub, "labelled", "ready in one cluster", isReady("1.0.0", 1));

  const config = await prod.rest.get(configMaps, {
    namespace: "labelled",
    name: "labelled-config",
  });
  assert.equal(config?.data?.["greeting"], "hello prod");
  assert.equal(await versionIn(dev, "labelled"), undefined);
});

test("deleting a HelmOp uninstalls it everywhere", async () => {
  charts.publish(await configChart("leaving", "1.0.0"));
  await createHelmOp("leaving", { helm: { repo: charts.url, chart: "leaving", version: "1.0.0" } });
  await helmOpThat(fleet.hub, "leaving", "ready", isReady("1.0.0", 2));

  await fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name: "leaving" });

  await objectThat(
    fleet.hub,
    helmOps,
    { namespace: workspaceNamespace, name: "leaving" },
    "gone",
    (helmOp) => helmOp === undefined,
  );
  for (const cluster of fleet.clusters) {
    await objectThat(
      cluster.rest,
      configMaps,
      { namespace: "leaving", name: "leaving-config" },
      "gone",
      (config) => config === undefined,
    );
    const deployment = {
      namespace: clusterNamespaceName(workspaceNamespace, cluster.name),
      name: "leaving",
    };
    await objectThat(
      fleet.hub,
      bundleDeployments,
      deployment,
      "gone",
      (found) => found === undefined,
    );
    assert.equal(await revisionOf(cluster, "leaving"), 0, "no record of Helm is left");
  }
});

test("a constraint that nothing matches is said in Accepted, with the versions that are there", async () => {
  charts.publish(await configChart("unmatched", "1.0.0"));

  await createHelmOp("unmatched", {
    helm: { repo: charts.url, chart: "unmatched", version: ">=2" },
  });
  const helmOp = await helmOpThat(
    fleet.hub,
    "unmatched",
    "refused",
    ({ status }) => findCondition(status?.conditions, "Accepted")?.status === "False",
  );

  assert.match(
    findCondition(helmOp.status?.conditions, "Accepted")?.message ?? "",
    /no chart version found for unmatched->=2.*1\.0\.0/,
  );
  assert.equal(findCondition(helmOp.status?.conditions, "Ready")?.status, "False");
});

test("a repository that breaks during polling leaves what is deployed, says what is wrong, and its recovery is noticed", async () => {
  charts.publish(await configChart("shaky", "1.0.0"));
  await createHelmOp("shaky", {
    helm: { repo: charts.url, chart: "shaky", version: "1.x" },
    pollingInterval: "1s",
  });
  await helmOpThat(fleet.hub, "shaky", "ready", isReady("1.0.0", 2));

  charts.breakWith(500);
  const broken = await helmOpThat(
    fleet.hub,
    "shaky",
    "told that its repository is broken",
    ({ status }) => findCondition(status?.conditions, "Polled")?.status === "False",
  );
  assert.match(
    findCondition(broken.status?.conditions, "Polled")?.message ?? "",
    /index\.yaml.*500.*retrying at/,
  );
  assert.ok(isReady("1.0.0", 2)(broken), "what is deployed stays");

  charts.publish(await configChart("shaky", "1.1.0"));
  charts.mend();
  const mended = await helmOpThat(fleet.hub, "shaky", "ready at 1.1.0", isReady("1.1.0", 2));
  assert.equal(findCondition(mended.status?.conditions, "Polled")?.status, "True");
});

test("a hub and an agent that are restarted go on, and Helm does not run again for what is in sync", async () => {
  charts.publish(await configChart("steady", "1.0.0"));
  await createHelmOp("steady", { helm: { repo: charts.url, chart: "steady", version: "1.0.0" } });
  await helmOpThat(fleet.hub, "steady", "ready", isReady("1.0.0", 2));

  await fleet.stopHub();
  await prod.stopAgent();
  await prod.startAgent();
  await fleet.startHub();
  charts.publish(await configChart("steady-too", "1.0.0"));
  await createHelmOp("steady-too", {
    helm: { repo: charts.url, chart: "steady-too", version: "1.0.0" },
  });
  await helmOpThat(fleet.hub, "steady-too", "ready", isReady("1.0.0", 2));

  assert.equal(await revisionOf(prod, "steady"), 1);
  assert.equal(await revisionOf(dev, "steady"), 1);
});

test("readiness that changes while the hub is away is told when it is back", async () => {
  charts.publish(await deploymentChart("away", "1.0.0"));
  await createHelmOp("away", { helm: { repo: charts.url, chart: "away", version: "1.0.0" } });
  await helmOpThat(fleet.hub, "away", "ready", isReady("1.0.0", 2));

  await fleet.stopHub();
  const deployment = { namespace: "away", name: "away" };
  // An image that no node pulls is beyond kwok; more replicas than its one node takes pods is not.
  await prod.rest.patch(deployments, deployment, {
    type: "merge",
    body: { spec: { replicas: 2_000 } },
  });
  await objectThat(
    prod.rest,
    deployments,
    deployment,
    "not ready",
    (found) => (found?.status?.unavailableReplicas ?? 0) > 0,
  );
  await fleet.startHub();

  const told = await helmOpThat(
    fleet.hub,
    "away",
    "told not to be ready",
    ({ status }) => status?.display?.readyBundleDeployments === "1/2",
  );
  assert.match(
    findCondition(told.status?.conditions, "Ready")?.message ?? "",
    /NotReady\(1\) \[Cluster fleet-default\/cluster-1/,
  );
  await fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name: "away" });
});

test("clusters that got different archives from an index without digests are told of in Accepted, until they agree", async (t) => {
  const archives = await Promise.all(
    ["one", "other"].map((greeting) =>
      chartArchive({
        name: "two-faced",
        version: "1.0.0",
        values: `greeting: ${greeting}\n`,
        templates: {},
      }),
    ),
  );
  let downloads = 0;
  const server = createServer(({ url = "" }, response) => {
    if (url === "/index.yaml")
      return void response.end(
        'apiVersion: v1\nentries:\n  two-faced:\n  - {name: two-faced, version: "1.0.0", urls: [x.tgz]}\n',
      );
    response.end(archives[downloads++ % archives.length]?.bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const repo = `http://127.0.0.1:${port}`;
  const digests = archives.map(({ digest }) => `sha256:${digest}`).sort();

  await createHelmOp("two-faced", { helm: { repo, chart: "two-faced", version: "1.0.0" } });
  await helmOpThat(fleet.hub, "two-faced", "told of two archives", (helmOp) => {
    const { status, message = "" } = findCondition(helmOp.status?.conditions, "Accepted") ?? {};
    return (
      status === "True" &&
      message.startsWith(
        `clusters got different archives of 1.0.0 at ${repo}/x.tgz, ${digests[0]} in 1 cluster and ${digests[1]} in 1 cluster; `,
      )
    );
  });

  const helmOp = await fleet.hub.get(helmOps, { namespace: workspaceNamespace, name: "two-faced" });
  assert.ok(helmOp !== undefined);
  await fleet.hub.replace(helmOps, {
    ...helmOp,
    spec: { ...helmOp.spec, targets: [{ clusterSelector: { matchLabels: { env: "dev" } } }] },
  });
  await helmOpThat(
    fleet.hub,
    "two-faced",
    "told of nothing any more",
    ({ status }) =>
      status?.display?.readyBundleDeployments === "1/1" &&
      findCondition(status.conditions, "Accepted")?.message === "",
  );
});
