/**
 * What users of Fleet ran into with their HelmOps, each told by the issue in which they reported it, and each gone here.
 * One fleet for all of it. Those that concern credentials are in ../credentials.
 */
import assert from "node:assert/strict";
import { startTestRegistry } from "@flotilla/local/testing";
import { apiVersion, bundleDeployments, bundles, type HelmOp, helmOps } from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { configMaps } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { chartArchive, configChart } from "../harness/chart-archive.ts";
import { startChartServer } from "../harness/chart-server.ts";
import { startTestFleet } from "../harness/fleet.ts";
import { pushChart } from "../harness/push-chart.ts";
import { helmOpThat, isReady, objectThat } from "../harness/wait.ts";

const fleet = await startTestFleet({ clusters: [{ env: "prod" }] });
afterAll(() => fleet.close());
const charts = await startChartServer();
afterAll(() => charts.close());
const registry = await startTestRegistry({ onTestFinished: afterAll });
const [cluster] = fleet.clusters;
assert.ok(cluster !== undefined);
charts.publish(
  await configChart("app", "v1.2.3"),
  await configChart("app", "1.1.0"),
  await configChart("app", "2.0.0-rc.1"),
);
for (const version of ["0.1.4", "0.1.9", "0.2.0", "0.3.0-beta.1"])
  await pushChart(fleet.helm, await configChart("web", version), `${registry.oci}/charts`);

function deploy(name: string, helm: HelmOp["spec"]["helm"]): Promise<HelmOp> {
  return fleet.hub.create(helmOps, {
    apiVersion,
    kind: "HelmOp",
    metadata: { namespace: workspaceNamespace, name },
    spec: { namespace: name, targets: [{ clusterSelector: {} }], helm },
  });
}

const app = { repo: charts.url, chart: "app" };
const web = { repo: `${registry.oci}/charts/web` };

const versions: readonly (readonly [
  trouble: string,
  name: string,
  helm: HelmOp["spec"]["helm"],
  version: string,
])[] = [
  [
    "rancher/fleet#3883: the version that a constraint came to is in the status",
    "fleet-3883",
    { ...app, version: "1.1.x" },
    "1.1.0",
  ],
  [
    "rancher/fleet#3953: a version with a v is found by a constraint without one",
    "fleet-3953-index",
    { ...app, version: "~1.2" },
    "v1.2.3",
  ],
  [
    "rancher/fleet#3953: and by one that has the v itself",
    "fleet-3953-asked",
    { ...app, version: "v1.2.3" },
    "v1.2.3",
  ],
  [
    "rancher/fleet#3862: an OCI registry's tags are chosen from by a constraint",
    "fleet-3862",
    { ...web, version: ">=0.1.0, <0.2.0" },
    "0.1.9",
  ],
  [
    "rancher/dashboard#18309: without a version an OCI registry's newest release is taken",
    "dashboard-18309",
    { ...web, version: "" },
    "0.2.0",
  ],
];
for (const [trouble, name, helm, version] of versions) {
  test(trouble, async () => {
    await deploy(name, helm);

    const helmOp = await helmOpThat(fleet.hub, name, `ready at ${version}`, isReady(version, 1));

    const config = await cluster.rest.get(configMaps, { namespace: name, name: `${name}-config` });
    assert.equal(config?.data?.["version"], version);
    const bundle = await fleet.hub.get(bundles, helmOp.metadata);
    assert.equal(bundle?.spec.helm?.version, version, "the Bundle never shows the constraint");
  });
}

test("rancher/fleet#3954: what goes wrong below is told on the HelmOp itself", async () => {
  charts.publish(
    await chartArchive({
      name: "broken",
      version: "1.0.0",
      templates: { "fails.yaml": '{{ fail "no region was given" }}\n' },
    }),
  );
  await deploy("fleet-3954", { repo: charts.url, chart: "broken", version: "1.0.0" });

  const helmOp = await helmOpThat(
    fleet.hub,
    "fleet-3954",
    "told what failed",
    ({ status }) => status?.display?.state === "ErrApplied",
  );

  assert.match(
    findCondition(helmOp.status?.conditions, "Ready")?.message ?? "",
    /ErrApplied\(1\).*fleet-default\/cluster-1.*no region was given/,
  );
});

test("rancher/fleet#4144, #4283: values that change faster than they are installed arrive, the last ones", async () => {
  await deploy("fleet-4144", { ...app, version: "1.1.0", values: { greeting: "0" } });
  for (let change = 1; change <= 20; change += 1) {
    await fleet.hub.patch(
      helmOps,
      { namespace: workspaceNamespace, name: "fleet-4144" },
      { type: "merge", body: { spec: { helm: { values: { greeting: `${change}` } } } } },
    );
  }

  const greeted = { namespace: "fleet-4144", name: "fleet-4144-config" };
  await objectThat(
    cluster.rest,
    configMaps,
    greeted,
    "told the last greeting",
    (config) => config?.data?.["greeting"] === "20",
  );
  await helmOpThat(fleet.hub, "fleet-4144", "ready", isReady("1.1.0", 1));
});

test("rancher/fleet#2388: what the hub keeps for a cluster is small, however large the values are", async () => {
  const values = { greeting: "x".repeat(300_000) };
  await deploy("fleet-2388", { ...app, version: "1.1.0", values });
  await helmOpThat(fleet.hub, "fleet-2388", "ready", isReady("1.1.0", 1));

  const deployment = await fleet.hub.get(bundleDeployments, {
    namespace: clusterNamespaceName(workspaceNamespace, cluster.name),
    name: "fleet-2388",
  });
  assert.ok(deployment !== undefined);
  assert.ok(JSON.stringify(deployment).length < 4_096);
});

test("rancher/fleet#3004: what is ready is written no more, by nobody", async () => {
  const settled = { namespace: workspaceNamespace, name: "fleet-3883" };
  const namespace = clusterNamespaceName(workspaceNamespace, cluster.name);
  const versions = async () => {
    const objects = [
      await fleet.hub.get(helmOps, settled),
      await fleet.hub.get(bundles, settled),
      await fleet.hub.get(bundleDeployments, { ...settled, namespace }),
    ];
    return objects.map((object) => object?.metadata.resourceVersion);
  };
  const before = await versions();

  // What is going on meanwhile is the whole way of another HelmOp.
  await deploy("fleet-3004", { ...app, version: "1.1.0" });
  await helmOpThat(fleet.hub, "fleet-3004", "ready", isReady("1.1.0", 1));

  assert.ok(!before.includes(undefined));
  assert.deepEqual(await versions(), before);
});
