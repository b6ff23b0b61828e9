/** The product from end to end, on real control planes with the real Helm. All tests share a fleet. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startTestRegistry } from "@flotilla/local/testing";
import { apiVersion, bundles, clusterRegistrationTokens, helmOps } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { deployments, namespaces, secrets } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { chartArchive, configChart, deploymentChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster } from "../harness/fleet.ts";
import { pushChart } from "../harness/push-chart.ts";
import { installedConfig, lastRevision, waitUntilUninstalled } from "../harness/releases.ts";
import { messageOf, waitForObject, waitUntilGone } from "../harness/wait.ts";
import { isReady } from "../harness/workspace.ts";

const { fleet, charts } = await startFleetForFile({
  clusters: [{ env: "prod" }, { env: "dev" }],
});
const { workspace } = fleet;
const [prod, dev] = fleet.clusters;
assert.ok(prod !== undefined && dev !== undefined);

async function versionIn(cluster: TestCluster, name: string): Promise<string | undefined> {
  return (await installedConfig(cluster.client, name))?.data?.["version"];
}

test("a HelmOp with a constraint is installed in both clusters, and both follow what is published", async () => {
  charts.publish(
    await configChart("follow", "0.1.4"),
    await configChart("follow", "0.1.5"),
    await configChart("follow", "0.2.0"),
  );

  await workspace.createHelmOp("follow", {
    helm: { repo: charts.url, chart: "follow", version: "0.1.x" },
    pollingInterval: "1s",
  });
  await workspace.waitUntilReady("follow", "0.1.5", 2);
  assert.deepEqual(
    await Promise.all(fleet.clusters.map((cluster) => versionIn(cluster, "follow"))),
    ["0.1.5", "0.1.5"],
  );

  charts.publish(await configChart("follow", "0.1.6"));
  await workspace.waitUntilReady("follow", "0.1.6", 2);
  assert.deepEqual(
    await Promise.all(fleet.clusters.map((cluster) => versionIn(cluster, "follow"))),
    ["0.1.6", "0.1.6"],
  );
  const bundle = await workspace.bundle("follow");
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

  await workspace.createHelmOp("oci-web", {
    helm: { repo: `${registry.oci}/charts/oci-web`, version: "1.x" },
    pollingInterval: "1s",
  });
  await workspace.waitUntilReady("oci-web", "1.0.0", 2);

  await publish("1.1.0");
  await workspace.waitUntilReady("oci-web", "1.1.0", 2);
  assert.equal(await versionIn(prod, "oci-web"), "1.1.0");
});

test("of two clusters with different labels only the matching one gets the release, with the values of its target", async () => {
  charts.publish(await configChart("labelled", "1.0.0"));

  await workspace.createHelmOp("labelled", {
    helm: { repo: charts.url, chart: "labelled", version: "1.0.0", values: { greeting: "hi" } },
    targets: [
      {
        clusterSelector: { matchLabels: { env: "prod" } },
        helm: { values: { greeting: "hello prod" } },
      },
    ],
  });
  await workspace.waitUntilReady("labelled", "1.0.0", 1);

  const config = await installedConfig(prod.client, "labelled");
  assert.equal(config?.data?.["greeting"], "hello prod");
  assert.equal(await versionIn(dev, "labelled"), undefined);
});

test("deleting a HelmOp uninstalls it everywhere", async () => {
  charts.publish(await configChart("leaving", "1.0.0"));
  await workspace.createHelmOp("leaving", {
    helm: { repo: charts.url, chart: "leaving", version: "1.0.0" },
  });
  await workspace.waitUntilReady("leaving", "1.0.0", 2);

  await workspace.deleteHelmOp("leaving");

  for (const cluster of fleet.clusters) {
    await waitUntilUninstalled(cluster.client, "leaving");
    await workspace.waitUntilUndeployed(cluster.name, "leaving");
    assert.equal(await lastRevision(cluster.client, "leaving"), 0, "no record of Helm is left");
  }
});

test("creating and deleting objects logs nothing above info", async () => {
  const namespace = "short-lived";
  const metadata = { namespace, name: "short" };
  await fleet.hub.create(namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  });
  await fleet.hub.create(helmOps, {
    apiVersion,
    kind: "HelmOp",
    metadata,
    spec: { helm: { repo: charts.url, chart: "leaving", version: "1.0.0" }, targets: [] },
  });
  await fleet.hub.create(clusterRegistrationTokens, {
    apiVersion,
    kind: "ClusterRegistrationToken",
    metadata,
    spec: { ttl: "1h" },
  });
  await waitForObject(fleet.hub, bundles, metadata, "created", () => true);
  await waitForObject(fleet.hub, clusterRegistrationTokens, metadata, "with a Secret", (token) =>
    Boolean(token.status?.secretName),
  );
  await fleet.hub.delete(clusterRegistrationTokens, metadata);
  await waitUntilGone(fleet.hub, secrets, metadata);
  await fleet.hub.delete(namespaces, { name: namespace });
  await waitUntilGone(fleet.hub, namespaces, { name: namespace });

  const logs = join(fleet.dir, "logs");
  const lines = await Promise.all(
    ["hub.log", ...fleet.clusters.map(({ name }) => `${name}-agent.log`)].map((file) =>
      readFile(join(logs, file), "utf8"),
    ),
  );
  const noise = lines
    .flatMap((text) => text.trim().split("\n"))
    .filter((line) => !/"level":"(debug|info)"/.test(line));
  assert.deepEqual(noise, []);
});

test("a constraint that no version matches is reported in Accepted, with the versions that exist", async () => {
  charts.publish(await configChart("unmatched", "1.0.0"));

  await workspace.createHelmOp("unmatched", {
    helm: { repo: charts.url, chart: "unmatched", version: ">=2" },
  });
  const helmOp = await workspace.waitForHelmOp(
    "unmatched",
    "rejected",
    ({ status }) => findCondition(status?.conditions, "Accepted")?.status === "False",
  );

  assert.match(messageOf(helmOp, "Accepted"), /no chart version found for unmatched->=2.*1\.0\.0/);
  assert.equal(findCondition(helmOp.status?.conditions, "Ready")?.status, "False");
});

test("a repository that fails during polling changes no deployment, is reported, and polling continues when it recovers", async () => {
  charts.publish(await configChart("shaky", "1.0.0"));
  await workspace.createHelmOp("shaky", {
    helm: { repo: charts.url, chart: "shaky", version: "1.x" },
    pollingInterval: "1s",
  });
  await workspace.waitUntilReady("shaky", "1.0.0", 2);

  charts.failWith(500);
  const broken = await workspace.waitForHelmOp(
    "shaky",
    "reporting that its repository fails",
    ({ status }) => findCondition(status?.conditions, "Polled")?.status === "False",
  );
  assert.match(messageOf(broken, "Polled"), /index\.yaml.*500.*retrying at/);
  assert.ok(isReady("1.0.0", 2)(broken), "the deployment stays");

  charts.publish(await configChart("shaky", "1.1.0"));
  charts.recover();
  const recovered = await workspace.waitUntilReady("shaky", "1.1.0", 2);
  assert.equal(findCondition(recovered.status?.conditions, "Polled")?.status, "True");
});

test("after a restart of hub and agent Helm does not run for releases that are in sync", async () => {
  charts.publish(await configChart("steady", "1.0.0"));
  await workspace.createHelmOp("steady", {
    helm: { repo: charts.url, chart: "steady", version: "1.0.0" },
  });
  await workspace.waitUntilReady("steady", "1.0.0", 2);

  await fleet.stopHub();
  await prod.stopAgent();
  await prod.startAgent();
  await fleet.startHub();
  charts.publish(await configChart("steady-too", "1.0.0"));
  await workspace.createHelmOp("steady-too", {
    helm: { repo: charts.url, chart: "steady-too", version: "1.0.0" },
  });
  await workspace.waitUntilReady("steady-too", "1.0.0", 2);

  assert.equal(await lastRevision(prod.client, "steady"), 1);
  assert.equal(await lastRevision(dev.client, "steady"), 1);
});

test("a change of readiness while the hub is stopped is reported when it is back", async () => {
  charts.publish(await deploymentChart("away", "1.0.0"));
  await workspace.createHelmOp("away", {
    helm: { repo: charts.url, chart: "away", version: "1.0.0" },
  });
  await workspace.waitUntilReady("away", "1.0.0", 2);

  await fleet.stopHub();
  const deployment = { namespace: "away", name: "away" };
  // kwok pulls every image, but its one node does not take so many pods.
  await prod.client.patch(deployments, deployment, {
    type: "merge",
    body: { spec: { replicas: 2_000 } },
  });
  await waitForObject(
    prod.client,
    deployments,
    deployment,
    "not ready",
    (found) => (found.status?.unavailableReplicas ?? 0) > 0,
  );
  await fleet.startHub();

  const reported = await workspace.waitForHelmOp(
    "away",
    "reporting a cluster that is not ready",
    ({ status }) => status?.display?.readyBundleDeployments === "1/2",
  );
  assert.match(messageOf(reported, "Ready"), /NotReady\(1\) \[Cluster fleet-default\/cluster-1/);
  await workspace.deleteHelmOp("away");
});

test("different archives that clusters got from an index without digests are reported in Accepted, until they agree", async (t) => {
  const archives = await Promise.all(
    ["one", "other"].map((greeting) =>
      chartArchive({
        name: "ambiguous",
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
        'apiVersion: v1\nentries:\n  ambiguous:\n  - {name: ambiguous, version: "1.0.0", urls: [x.tgz]}\n',
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

  await workspace.createHelmOp("ambiguous", {
    helm: { repo, chart: "ambiguous", version: "1.0.0" },
  });
  await workspace.waitForHelmOp("ambiguous", "reporting two archives", (helmOp) => {
    const { status, message = "" } = findCondition(helmOp.status?.conditions, "Accepted") ?? {};
    return (
      status === "True" &&
      message.startsWith(
        `clusters got different archives of 1.0.0 at ${repo}/x.tgz, ${digests[0]} in 1 cluster and ${digests[1]} in 1 cluster; `,
      )
    );
  });

  await workspace.patchHelmOp("ambiguous", {
    targets: [{ clusterSelector: { matchLabels: { env: "dev" } } }],
  });
  await workspace.waitForHelmOp(
    "ambiguous",
    "accepted without a message",
    ({ status }) =>
      status?.display?.readyBundleDeployments === "1/1" &&
      findCondition(status.conditions, "Accepted")?.message === "",
  );
});
