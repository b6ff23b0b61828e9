/**
 * Problems of Fleet's HelmOps that users reported, by their issue: none of them happens here. All tests share a fleet. Issues
 * on credentials are in ../credentials.
 */
import assert from "node:assert/strict";
import { startTestRegistry } from "@flotilla/local/testing";
import type { HelmOp } from "@flotilla/shared/api";
import { configMaps } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { chartArchive, configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { pushChart } from "../harness/push-chart.ts";
import { installedConfig } from "../harness/releases.ts";
import { messageOf, waitForObject } from "../harness/wait.ts";

const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{ env: "prod" }] });
const { workspace } = fleet;
const registry = await startTestRegistry({ onTestFinished: afterAll });
charts.publish(
  await configChart("app", "v1.2.3"),
  await configChart("app", "1.1.0"),
  await configChart("app", "2.0.0-rc.1"),
);
for (const version of ["0.1.4", "0.1.9", "0.2.0", "0.3.0-beta.1"])
  await pushChart(fleet.helm, await configChart("web", version), `${registry.oci}/charts`);

function deploy(name: string, helm: HelmOp["spec"]["helm"]): Promise<HelmOp> {
  return workspace.createHelmOp(name, { helm });
}

const app = { repo: charts.url, chart: "app" };
const web = { repo: `${registry.oci}/charts/web` };

const versions: readonly (readonly [
  issue: string,
  name: string,
  helm: HelmOp["spec"]["helm"],
  version: string,
])[] = [
  [
    "rancher/fleet#3883: the version that a constraint resolved to is in the status",
    "fleet-3883",
    { ...app, version: "1.1.x" },
    "1.1.0",
  ],
  [
    "rancher/fleet#3953: a constraint without a v matches a version with one",
    "fleet-3953-index",
    { ...app, version: "~1.2" },
    "v1.2.3",
  ],
  [
    "rancher/fleet#3953: so does a version with the v",
    "fleet-3953-asked",
    { ...app, version: "v1.2.3" },
    "v1.2.3",
  ],
  [
    "rancher/fleet#3862: a constraint selects one of the tags of an OCI registry",
    "fleet-3862",
    { ...web, version: ">=0.1.0, <0.2.0" },
    "0.1.9",
  ],
  [
    "rancher/dashboard#18309: without a version the newest release of an OCI registry is deployed",
    "dashboard-18309",
    { ...web, version: "" },
    "0.2.0",
  ],
];
for (const [issue, name, helm, version] of versions) {
  test(issue, async () => {
    await deploy(name, helm);

    await workspace.waitUntilReady(name, version, 1);

    const config = await installedConfig(cluster.client, name);
    assert.equal(config?.data?.["version"], version);
    const bundle = await workspace.bundle(name);
    assert.equal(bundle?.spec.helm?.version, version, "the Bundle never shows the constraint");
  });
}

test("rancher/fleet#3954: a failure in a cluster is reported on the HelmOp itself", async () => {
  charts.publish(
    await chartArchive({
      name: "broken",
      version: "1.0.0",
      templates: { "fails.yaml": '{{ fail "no region was given" }}\n' },
    }),
  );
  await deploy("fleet-3954", { repo: charts.url, chart: "broken", version: "1.0.0" });

  const helmOp = await workspace.waitForHelmOp(
    "fleet-3954",
    "reporting what failed",
    ({ status }) => status?.display?.state === "ErrApplied",
  );

  assert.match(
    messageOf(helmOp, "Ready"),
    /ErrApplied\(1\).*fleet-default\/cluster-1.*no region was given/,
  );
});

test("rancher/fleet#4144, #4283: of values that change faster than they are installed, the last ones are installed", async () => {
  await deploy("fleet-4144", { ...app, version: "1.1.0", values: { greeting: "0" } });
  for (let change = 1; change <= 20; change += 1) {
    await workspace.patchHelmOp("fleet-4144", { helm: { values: { greeting: `${change}` } } });
  }

  const config = { namespace: "fleet-4144", name: "fleet-4144-config" };
  await waitForObject(
    cluster.client,
    configMaps,
    config,
    "changed to the last greeting",
    ({ data }) => data?.["greeting"] === "20",
  );
  await workspace.waitUntilReady("fleet-4144", "1.1.0", 1);
});

test("rancher/fleet#2388: the object for a cluster on the hub is small, however large the values are", async () => {
  const values = { greeting: "x".repeat(300_000) };
  await deploy("fleet-2388", { ...app, version: "1.1.0", values });
  await workspace.waitUntilReady("fleet-2388", "1.1.0", 1);

  const deployment = await workspace.bundleDeployment(cluster.name, "fleet-2388");
  assert.ok(deployment !== undefined);
  assert.ok(JSON.stringify(deployment).length < 4_096);
});

test("rancher/fleet#3004: objects that are ready are not written again", async () => {
  const versions = async () => {
    const objects = [
      await workspace.helmOp("fleet-3883"),
      await workspace.bundle("fleet-3883"),
      await workspace.bundleDeployment(cluster.name, "fleet-3883"),
    ];
    return objects.map((object) => object?.metadata.resourceVersion);
  };
  const before = await versions();

  // Meanwhile another HelmOp is deployed.
  await deploy("fleet-3004", { ...app, version: "1.1.0" });
  await workspace.waitUntilReady("fleet-3004", "1.1.0", 1);

  assert.ok(!before.includes(undefined));
  assert.deepEqual(await versions(), before);
});
