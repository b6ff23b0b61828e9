/** Asking, pushing and polling on a whole fleet with a real registry. One fleet for all of it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { chooseHubPorts, type HubPorts, hubMain, startProgram } from "@flotilla/cli/fleet";
import { startTestRegistry } from "@flotilla/local/testing";
import { apiVersion, type HelmOp, helmOps } from "@flotilla/shared/api";
import {
  reconcileRequestAnnotation,
  webhookSecretType,
  workspaceNamespace,
} from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { configMaps, events, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, type TestContext, test } from "vitest";
import { chartArchive, configChart } from "../harness/chart-archive.ts";
import { startChartServer } from "../harness/chart-server.ts";
import { startTestFleet } from "../harness/fleet.ts";
import { pushChart } from "../harness/push-chart.ts";
import { helmOpThat, isReady, objectThat } from "../harness/wait.ts";

const fleet = await startTestFleet({ clusters: [{}] });
afterAll(() => fleet.close());
const charts = await startChartServer();
afterAll(() => charts.close());
const program = fileURLToPath(new URL("../../../cli/bin/flotilla.js", import.meta.url));

async function createHelmOp(name: string, spec: HelmOp["spec"]): Promise<void> {
  await fleet.hub.create(helmOps, {
    apiVersion,
    kind: "HelmOp",
    metadata: { namespace: workspaceNamespace, name },
    spec: { namespace: name, targets: [{ clusterSelector: {} }], ...spec },
  });
}

async function annotate(name: string, annotations: Readonly<Record<string, string>>) {
  const body = { metadata: { annotations } };
  await fleet.hub.patch(helmOps, { namespace: workspaceNamespace, name }, { type: "merge", body });
}

async function flotilla(...args: readonly string[]) {
  const child = spawn(
    process.execPath,
    [program, "reconcile", ...args, "--kubeconfig", fleet.hubPlane.kubeconfig],
    { env: { HOME: fleet.dir, PATH: process.env["PATH"] }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as unknown, stdout, stderr };
}

/** One that does not lead. */
async function startSecondHub(t: TestContext): Promise<HubPorts> {
  const ports = await chooseHubPorts();
  const hub = await startProgram({
    name: "second hub",
    main: hubMain,
    args: [
      `--kubeconfig=${fleet.hubPlane.kubeconfig}`,
      `--grpc-listen=127.0.0.1:${ports.grpc}`,
      `--http-listen=127.0.0.1:${ports.http}`,
      "--replica=hub-1",
    ],
    health: `http://127.0.0.1:${ports.http}`,
    untilReady: true,
    logFile: join(fleet.dir, "logs", "hub-1.log"),
    environment: { PATH: process.env["PATH"] ?? "", HOME: fleet.dir },
  });
  t.onTestFinished(() => hub.stop());
  return ports;
}

async function metrics(): Promise<string> {
  return (await fetch(`http://127.0.0.1:${fleet.hubPorts.http}/metrics`)).text();
}

test("what is pushed to a registry is followed at once, though the next poll is a day away, whichever replica it tells", async (t) => {
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
  await createHelmOp("pushed", {
    helm: { repo: `${registry.oci}/charts/pushed`, version: "1.x" },
    pollingInterval: "24h",
  });
  await helmOpThat(fleet.hub, "pushed", "ready at 1.0.0", isReady("1.0.0", 1));

  await publish("1.1.0");

  const followed = await helmOpThat(fleet.hub, "pushed", "ready at 1.1.0", isReady("1.1.0", 1));
  assert.equal(findCondition(followed.status?.conditions, "Polled")?.status, "True");
  const told = JSON.stringify([followed, (await fleet.hub.list(events)).items]);
  assert.ok(!told.includes(key), "the key is nowhere to be read");
});

test("a HelmOp without polling keeps its version until somebody asks with Flux's annotation", async () => {
  charts.publish(await configChart("asked", "1.0.0"));
  await createHelmOp("asked", { helm: { repo: charts.url, chart: "asked", version: "1.x" } });
  await helmOpThat(fleet.hub, "asked", "ready at 1.0.0", isReady("1.0.0", 1));
  charts.publish(await configChart("asked", "1.1.0"));

  await annotate("asked", { other: "thing" });
  await createHelmOp("after", { helm: { repo: charts.url, chart: "asked", version: "1.x" } });
  await helmOpThat(fleet.hub, "after", "ready at 1.1.0", isReady("1.1.0", 1));
  const ref = { namespace: workspaceNamespace, name: "asked" };
  assert.equal((await fleet.hub.get(helmOps, ref))?.status?.version, "1.0.0");

  await annotate("asked", { [reconcileRequestAnnotation]: "now" });
  const { status } = await helmOpThat(fleet.hub, "asked", "ready", isReady("1.1.0", 1));
  assert.equal(status?.lastHandledReconcileAt, "now");
});

test("flotilla reconcile waits for what it asked for, and follows what was published again", async () => {
  charts.publish(await configChart("again", "1.0.0"));
  await createHelmOp("again", { helm: { repo: charts.url, chart: "again", version: "1.0.0" } });
  await helmOpThat(fleet.hub, "again", "ready", isReady("1.0.0", 1));
  const templates = {
    "note.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: again-note}\n",
  };
  charts.publish(await chartArchive({ name: "again", version: "1.0.0", templates }));

  const { code, stdout, stderr } = await flotilla(
    "helmop",
    "again",
    "-n",
    workspaceNamespace,
    "--wait",
  );

  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(
    stdout,
    /^HelmOp fleet-default\/again reconciliation requested\nHelmOp fleet-default\/again 1\.0\.0 is ready in 1 of 1 clusters\n$/,
  );
  const [cluster] = fleet.clusters;
  const note = { namespace: "again", name: "again-note" };
  assert.notEqual(await cluster?.rest.get(configMaps, note), undefined);
});

test("flotilla reconcile says what went wrong, and ends with 1", async () => {
  charts.breakWith(500);
  const failed = await flotilla("helmop", "again", "--wait");
  charts.mend();
  const missing = await flotilla("helmop", "nobody", "--wait");
  await fleet.hub.patch(
    helmOps,
    { namespace: workspaceNamespace, name: "again" },
    { type: "merge", body: { spec: { suspend: true } } },
  );
  const suspended = await flotilla("helmop", "again", "--wait");

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

test("a bare archive tells the version that the cluster reports", async () => {
  charts.publish(await configChart("bare", "3.2.1"));
  await createHelmOp("bare", { helm: { chart: `${charts.url}/bare-3.2.1.tgz` } });

  await helmOpThat(fleet.hub, "bare", "ready at 3.2.1", isReady("3.2.1", 1));
});

test("the metrics are Fleet's, follow a HelmOp's labels, and go with it", async () => {
  charts.publish(await configChart("counted", "1.0.0"), await configChart("counted", "2.0.0"));
  await createHelmOp("counted", { helm: { repo: charts.url, chart: "counted", version: "1.0.0" } });
  await helmOpThat(fleet.hub, "counted", "ready", isReady("1.0.0", 1));
  const series = async () =>
    (await metrics()).match(/^fleet_helmop_ready_clusters\{name="counted".*$/gm) ?? [];
  const labels = (version: string) =>
    `{name="counted",namespace="fleet-default",repo="${charts.url}",chart="counted",version="${version}"}`;
  assert.deepEqual(await series(), [`fleet_helmop_ready_clusters${labels("1.0.0")} 1`]);

  const ref = { namespace: workspaceNamespace, name: "counted" };
  await fleet.hub.patch(helmOps, ref, {
    type: "merge",
    body: { spec: { helm: { version: "2.0.0" } } },
  });
  await helmOpThat(fleet.hub, "counted", "ready", isReady("2.0.0", 1));
  assert.deepEqual(await series(), [`fleet_helmop_ready_clusters${labels("2.0.0")} 1`]);

  await fleet.hub.delete(helmOps, ref);
  await objectThat(fleet.hub, helmOps, ref, "gone", (helmOp) => helmOp === undefined);
  assert.deepEqual(await series(), []);
});
