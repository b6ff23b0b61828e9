/** Polling, webhooks and requested reconciles on a fleet with a real registry. All tests share a fleet. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { startTestRegistry } from "@flotilla/local/testing";
import { helmOps } from "@flotilla/shared/api";
import {
  reconcileRequestAnnotation,
  webhookSecretType,
  workspaceNamespace,
} from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { configMaps, events, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, type TestContext, test } from "vitest";
import { chartArchive, configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import { chooseHubPorts, type HubPorts, startHub } from "../harness/hub-program.ts";
import { pushChart } from "../harness/push-chart.ts";

const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{}] });
const { workspace } = fleet;
const commands = await commandsIn({ onTestFinished: afterAll });

async function annotate(name: string, annotations: Readonly<Record<string, string>>) {
  const body = { metadata: { annotations } };
  await fleet.hub.patch(helmOps, workspace.ref(name), { type: "merge", body });
}

/** `flotilla reconcile`. */
function reconcile(...args: readonly string[]) {
  return commands.run("reconcile", ...args, "--kubeconfig", fleet.hubPlane.kubeconfig);
}

/** One that does not lead. */
async function startSecondHub(t: TestContext): Promise<HubPorts> {
  const ports = await chooseHubPorts();
  const hub = await startHub({
    kubeconfig: fleet.hubPlane.kubeconfig,
    ports,
    logFile: join(fleet.dir, "logs", "hub-1.log"),
    environment: { PATH: process.env["PATH"] ?? "", HOME: fleet.dir },
    replica: "hub-1",
  });
  t.onTestFinished(() => hub.stop());
  return ports;
}

async function metrics(): Promise<string> {
  return (await fetch(`http://127.0.0.1:${fleet.hubPorts.internal}/metrics`)).text();
}

test("a chart that is pushed to a registry is deployed at once, a day before the next poll, whichever replica the webhook reaches", async (t) => {
  const other = await startSecondHub(t);
  const key = "only for the registry";
  await fleet.hub.create(secrets, {
    metadata: { namespace: workspaceNamespace, name: "registry" },
    type: webhookSecretType,
    stringData: { token: key },
  });
  const registry = await startTestRegistry(t, {
    notify: {
      url: `http://127.0.0.1:${other.http}/hooks/${workspaceNamespace}/registry`,
      authorization: `Bearer ${key}`,
    },
  });
  const publish = async (version: string) =>
    pushChart(fleet.helm, await configChart("pushed", version), `${registry.oci}/charts`);
  await publish("1.0.0");
  await workspace.createHelmOp("pushed", {
    helm: { repo: `${registry.oci}/charts/pushed`, version: "1.x" },
    pollingInterval: "24h",
  });
  await workspace.waitUntilReady("pushed", "1.0.0", 1);

  await publish("1.1.0");

  const updated = await workspace.waitUntilReady("pushed", "1.1.0", 1);
  assert.equal(findCondition(updated.status?.conditions, "Polled")?.status, "True");
  const shown = JSON.stringify([updated, await fleet.hub.reader.list(events)]);
  assert.ok(!shown.includes(key), "the key is shown nowhere");
});

test("a HelmOp without polling keeps its version until a user requests a reconcile with the annotation of Flux", async () => {
  charts.publish(await configChart("requested", "1.0.0"));
  await workspace.createHelmOp("requested", {
    helm: { repo: charts.url, chart: "requested", version: "1.x" },
  });
  await workspace.waitUntilReady("requested", "1.0.0", 1);
  charts.publish(await configChart("requested", "1.1.0"));

  await annotate("requested", { other: "thing" });
  await workspace.createHelmOp("after", {
    helm: { repo: charts.url, chart: "requested", version: "1.x" },
  });
  await workspace.waitUntilReady("after", "1.1.0", 1);
  assert.equal((await workspace.helmOp("requested"))?.status?.version, "1.0.0");

  await annotate("requested", { [reconcileRequestAnnotation]: "now" });
  const { status } = await workspace.waitUntilReady("requested", "1.1.0", 1);
  assert.equal(status?.lastHandledReconcileAt, "now");
});

test("flotilla reconcile waits for the reconcile, which deploys a chart that was published again", async () => {
  charts.publish(await configChart("again", "1.0.0"));
  await workspace.createHelmOp("again", {
    helm: { repo: charts.url, chart: "again", version: "1.0.0" },
  });
  await workspace.waitUntilReady("again", "1.0.0", 1);
  const templates = {
    "note.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: again-note}\n",
  };
  charts.publish(await chartArchive({ name: "again", version: "1.0.0", templates }));

  const { code, stdout, stderr } = await reconcile(
    "helmop",
    "again",
    "-n",
    workspaceNamespace,
    "--wait",
  );

  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(
    stdout,
    /^HelmOp fleet-default\/again reconciliation requested\nHelmOp fleet-default\/again 1\.0\.0 is ready in 1 of 1 clusters\nCluster \S+: the release was upgraded, revision 2\n$/,
  );
  const note = { namespace: "again", name: "again-note" };
  assert.notEqual(await cluster.client.reader.get(configMaps, note), undefined);
});

test("flotilla reconcile prints what came of a request on each cluster: drift is left, and corrected once", async () => {
  const templates = {
    "note.yaml":
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drifted-note}\ndata: {mode: calm}\n",
  };
  charts.publish(await chartArchive({ name: "drifted", version: "1.0.0", templates }));
  await workspace.createHelmOp("drifted", {
    helm: { repo: charts.url, chart: "drifted", version: "1.0.0" },
    correctDrift: { enabled: false },
  });
  await workspace.waitUntilReady("drifted", "1.0.0", 1);
  const note = { namespace: "drifted", name: "drifted-note" };
  const modeOf = async () => (await cluster.client.reader.get(configMaps, note))?.data?.["mode"];
  const request = async (...flags: readonly string[]) => {
    const { code, stdout, stderr } = await reconcile("helmop", "drifted", "--wait", ...flags);
    assert.deepEqual([code, stderr], [0, ""]);
    return stdout.split("\n").at(-2) ?? "";
  };

  assert.match(await request(), /^Cluster \S+: nothing had to be done: the release is in sync$/);

  const body = { data: { mode: "wild" } };
  await cluster.client.patch(configMaps, note, { type: "merge", body });
  assert.match(
    await request("--correct-drift"),
    /^Cluster \S+: the drift of 1 object was corrected$/,
  );
  assert.equal(await modeOf(), "calm");
});

test("flotilla reconcile prints what failed, and exits with code 1", async () => {
  charts.failWith(500);
  const failed = await reconcile("helmop", "again", "--wait");
  charts.recover();
  const missing = await reconcile("helmop", "nobody", "--wait");
  await workspace.patchHelmOp("again", { suspend: true });
  const suspended = await reconcile("helmop", "again", "--wait");

  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /^flotilla: .*again.*index\.yaml.*500.*retrying at.*\n$/);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /^flotilla: reconcile HelmOp fleet-default\/nobody: not found on /);
  assert.equal(suspended.code, 1);
  assert.match(
    suspended.stderr,
    /^flotilla: reconcile HelmOp fleet-default\/again: it is suspended/,
  );
});

test("the version of a bare archive is the one that the cluster reports", async () => {
  charts.publish(await configChart("bare", "3.2.1"));
  await workspace.createHelmOp("bare", { helm: { chart: `${charts.url}/bare-3.2.1.tgz` } });

  await workspace.waitUntilReady("bare", "3.2.1", 1);
});

test("a HelmOp has the metrics of Fleet, whose labels follow it, and which are removed with it", async () => {
  charts.publish(await configChart("counted", "1.0.0"), await configChart("counted", "2.0.0"));
  await workspace.createHelmOp("counted", {
    helm: { repo: charts.url, chart: "counted", version: "1.0.0" },
  });
  await workspace.waitUntilReady("counted", "1.0.0", 1);
  const series = async () =>
    (await metrics()).match(/^fleet_helmop_ready_clusters\{name="counted".*$/gm) ?? [];
  const labels = (version: string) =>
    `{name="counted",namespace="fleet-default",repo="${charts.url}",chart="counted",version="${version}"}`;
  assert.deepEqual(await series(), [`fleet_helmop_ready_clusters${labels("1.0.0")} 1`]);

  await workspace.patchHelmOp("counted", { helm: { version: "2.0.0" } });
  await workspace.waitUntilReady("counted", "2.0.0", 1);
  assert.deepEqual(await series(), [`fleet_helmop_ready_clusters${labels("2.0.0")} 1`]);

  await workspace.deleteHelmOp("counted");
  assert.deepEqual(await series(), []);
});
