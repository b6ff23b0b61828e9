/**
 * A stage whose agents plan once more right before Helm runs, on a real fleet: what somebody changes in a cluster between the plan and
 * the approval keeps that cluster as it is, until its own diff is approved.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { bundleDeployments } from "@flotilla/shared/api";
import { agentNamespace, workspaceNamespace } from "@flotilla/shared/api/names";
import { type BundleRollout, bundleRollouts, type Gate, gates } from "@flotilla/shared/api/rollout";
import { configMaps, namespaces, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster } from "../harness/fleet.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import { configMapText } from "../harness/object-text.ts";
import { releaseHistory } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";

const { fleet, charts } = await startFleetForFile({ clusters: [{}, {}] });
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { hub, workspace } = fleet;
const [calm, changed] = fleet.clusters;
assert.ok(calm !== undefined && changed !== undefined);
const namespace = workspaceNamespace;
const verified = {
  stages: [{ name: "all", before: [{ name: "board", approval: { plan: true, verify: true } }] }],
};

/** Another version has another password: its digest has a value that is masked with the key of the plan. */
function chart(version: string): Promise<ChartArchive> {
  const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {password: "secret of ${version}"}\n`;
  return chartArchive({
    ...{ name: "web", version },
    templates: {
      "config.yaml": configMapText("config", { data: `{version: "${version}"}` }),
      "login.yaml": secret,
    },
  });
}

async function waiting(name: string, gate: string): Promise<Gate> {
  await waitForObject(
    hub,
    bundleRollouts,
    { namespace, name },
    `waiting for ${gate}`,
    ({ status }) =>
      (status?.stages?.[0]?.gates ?? []).some(
        (record) => record.gate === gate && record.result === "Waiting" && record.uid !== undefined,
      ),
  );
  const found = await hub.reader.get(gates, { namespace, name: gate });
  assert.ok(found !== undefined);
  return found;
}

async function approve(name: string, gate: string): Promise<void> {
  const { digest, app } = (await waiting(name, gate)).spec;
  const { code, stderr } = await flotilla.run(
    ...["approve", app.name, "--stage", "all", digest, "--kubeconfig", fleet.hubPlane.kubeconfig],
  );
  assert.deepEqual([code, stderr], [0, ""]);
}

async function rolloutAs(
  name: string,
  what: string,
  isDesired: (rollout: BundleRollout) => boolean,
): Promise<BundleRollout> {
  return await waitForObject(hub, bundleRollouts, { namespace, name }, what, isDesired);
}

const config = { namespace: "web", name: "config" };

async function versionIn({ client }: TestCluster): Promise<string | undefined> {
  return (await client.reader.get(configMaps, config))?.data?.["version"];
}

test("what was planned is installed, and upgraded to", async () => {
  charts.publish(await chart("1.0.0"), await chart("1.1.0"), await chart("1.2.0"));
  await workspace.createHelmOp("web", {
    helm: { repo: charts.url, chart: "web", version: "1.0.0" },
    rolloutStrategy: verified,
  });
  await approve("web-1", "web-1-all-board");
  await workspace.waitUntilReady("web", "1.0.0", 2);

  await workspace.patchHelmOp("web", { helm: { version: "1.1.0" } });
  await approve("web-2", "web-2-all-board");

  const { status } = await rolloutAs(
    "web-2",
    "completed",
    ({ status }) => status?.phase === "Completed",
  );
  assert.equal(status?.stages?.[0]?.gates?.length, 1);
  for (const { client } of [calm, changed])
    assert.deepEqual(await releaseHistory(client, "web"), ["1 superseded", "2 deployed"]);
});

test("what was changed since the plan keeps its cluster as it is, and a Gate asks for it alone", async () => {
  await workspace.patchHelmOp("web", { helm: { version: "1.2.0" } });
  await waiting("web-3", "web-3-all-board");
  // By hand, and nobody tells the hub.
  const byHand = { type: "merge", body: { data: { version: null } } } as const;
  await changed.client.patch(configMaps, config, byHand);

  await approve("web-3", "web-3-all-board");
  const { spec } = await waiting("web-3", "web-3-all-board-2");

  assert.deepEqual([spec.plan?.groups, spec.plan?.changed], [1, 1]);
  const sentence =
    /^stage all waits for the approval board .*: 1 group of changes in 1 cluster; got 1 cluster back: something else would have changed by then than was approved \(PLAN_STALE\): fleet-default\/cluster-2$/;
  const { status } = await rolloutAs("web-3", "waiting for the second approval", (rollout) =>
    sentence.test(rollout.status?.message ?? ""),
  );
  assert.deepEqual([status?.phase, status?.breach], ["Waiting", undefined]);
  assert.deepEqual([status?.clusters?.done, status?.clusters?.failed], [1, 0]);
  assert.equal(await versionIn(calm), "1.2.0");
  // Helm has not run there.
  assert.equal(await versionIn(changed), undefined);
  assert.deepEqual(await releaseHistory(changed.client, "web"), ["1 superseded", "2 deployed"]);
  const held = await workspace.waitForBundleDeployment(
    "cluster-2",
    "web",
    "ready with what it had",
    (deployment) => deployment.status?.ready === true,
  );
  assert.equal(held.spec.deploymentID, held.status?.appliedDeploymentID);
  assert.deepEqual([held.spec.promotion?.refused, held.spec.promotion?.planned], [1, undefined]);
});

test("the key of the plan is in no log and in no object of the hub", async () => {
  const stored = { namespace: agentNamespace, name: "assignment-web" };
  const encoded = (await calm.client.reader.get(secrets, stored))?.data?.["verification-key"] ?? "";
  const key = Buffer.from(encoded, "base64");
  assert.equal(key.length, 32);

  const objects = await Promise.all([
    hub.reader.list(bundleDeployments),
    hub.reader.list(bundleRollouts),
    hub.reader.list(gates),
  ]);
  const stores = await hub.reader.list(secrets, { namespace: "flotilla-system" });
  const texts = stores.flatMap(({ data = {} }) =>
    Object.values(data).map((value) => Buffer.from(value, "base64").toString()),
  );
  const logs = await Promise.all(
    [fleet.hubLog, calm.agentLog, changed.agentLog].map((path) => readFile(path, "utf8")),
  );
  const text = JSON.stringify(objects) + [...texts, ...logs].join("");
  for (const form of ["base64", "base64url", "hex"] as const)
    assert.ok(!text.includes(key.toString(form)), form);
});

test("the cluster is upgraded once its own diff is approved", async () => {
  await approve("web-3", "web-3-all-board-2");

  await rolloutAs("web-3", "completed", ({ status }) => status?.phase === "Completed");
  assert.equal(await versionIn(changed), "1.2.0");
  await workspace.waitUntilReady("web", "1.2.0", 2);
});

test("a first installation is refused where an object is there already, and what it would change is asked for", async () => {
  const taken = { namespace: "taken", name: "config" };
  await changed.client.create(namespaces, { metadata: { name: "taken" } });
  await changed.client.create(configMaps, { metadata: taken });
  await workspace.createHelmOp("taken", {
    helm: { repo: charts.url, chart: "web", version: "1.0.0", takeOwnership: true },
    rolloutStrategy: verified,
  });

  await approve("taken-1", "taken-1-all-board");
  const { spec } = await waiting("taken-1", "taken-1-all-board-2");

  assert.deepEqual([spec.plan?.groups, spec.plan?.changed], [1, 1]);
  const held = await workspace.waitForBundleDeployment(
    "cluster-2",
    "taken",
    "taken back",
    (deployment) => deployment.spec.promotion?.refused === 1,
  );
  assert.equal(held.spec.deploymentID, "");
  assert.deepEqual(await releaseHistory(changed.client, "taken"), []);

  await approve("taken-1", "taken-1-all-board-2");
  await workspace.waitUntilReady("taken", "1.0.0", 2);
  assert.deepEqual(await releaseHistory(changed.client, "taken"), ["1 deployed"]);
});
