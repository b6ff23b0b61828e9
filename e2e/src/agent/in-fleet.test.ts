/** Agents that are killed, that Helm rejects, and that run without their hub. All tests share a fleet. */

import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { startOfProcess } from "@flotilla/agent/helm";
import { helmOps } from "@flotilla/shared/api";
import { reconcileRequestAnnotation, resetRequestAnnotation } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { configMaps } from "@flotilla/shared/kube/objects";
import { onTestFinished, test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { rejectedText } from "../harness/object-text.ts";
import { releaseHistory, waitForRevision } from "../harness/releases.ts";
import { startSilentServer } from "../harness/silent-server.ts";
import { messageOf } from "../harness/wait.ts";
import { startAppFleet } from "./app-fleet.ts";
import { appChart } from "./test-charts.ts";

const { fleet, charts, cluster, createHelmOp, change, deleteHelmOp, config, helm } =
  await startAppFleet();
const { workspace } = fleet;
const { client } = cluster;

/** The process of the only active run of Helm, as the agent has recorded it. */
async function helmProcess(): Promise<{ readonly pid: number; readonly startedAt: string }> {
  const dir = join(fleet.dir, "cluster-1-agent", "runs");
  for (const file of await readdir(dir)) {
    const record = JSON.parse(await readFile(join(dir, file), "utf8")) as {
      process?: { pid: number; startedAt: string };
    };
    if (record.process !== undefined) return record.process;
  }
  throw new Error("no run of Helm is recorded");
}

test("a failed upgrade is rolled back, with conditions and a history, and tried again on request", async () => {
  const rejected = await chartArchive({
    name: "app",
    version: "9.0.0",
    templates: {
      "rejected.yaml": rejectedText(),
    },
  });
  charts.publish(rejected);
  await createHelmOp("remedied", {
    maxHistory: 10,
    upgrade: { remediation: { remediateLastFailure: true } },
  });
  await workspace.waitUntilReady("remedied", "1.0.0", 1);
  assert.deepEqual(await releaseConditionsOf("remedied"), ["Released True InstallSucceeded"]);

  await change("remedied", { helm: { version: "9.0.0" } });
  await workspace.waitForMessage(
    "remedied",
    /the upgrade failed, and no retries are left: .*rolled back/,
  );

  const failed = ["Released False UpgradeFailed", "Remediated True RollbackSucceeded"];
  assert.deepEqual(await releaseConditionsOf("remedied"), failed);
  const {
    conditions = [],
    history = [],
    failures,
  } = (await workspace.bundleDeployment(cluster.name, "remedied"))?.status ?? {};
  assert.equal(findCondition(conditions, "Stalled")?.reason, "RetriesExceeded");
  assert.equal(failures, 1);
  assert.deepEqual(
    history.map(({ version, status, action, chartVersion }) => [
      version,
      status,
      action,
      chartVersion,
    ]),
    [
      [3, "deployed", "rollback", "1.0.0"],
      [2, "failed", "upgrade", "9.0.0"],
      [1, "superseded", "install", "1.0.0"],
    ],
  );

  const at = new Date().toISOString();
  const annotations = { [reconcileRequestAnnotation]: at, [resetRequestAnnotation]: at };
  await fleet.hub.patch(helmOps, workspace.ref("remedied"), {
    type: "merge",
    body: { metadata: { annotations } },
  });
  await waitForRevision(client, "remedied", 5, "deployed");
  await change("remedied", { helm: { version: "1.1.0" } });
  await workspace.waitUntilReady("remedied", "1.1.0", 1);
  assert.deepEqual(await releaseConditionsOf("remedied"), ["Released True UpgradeSucceeded"]);
});

/** The conditions of the releases of a HelmOp. */
async function releaseConditionsOf(name: string): Promise<readonly string[]> {
  const { conditions = [] } = (await workspace.helmOp(name))?.status ?? {};
  return conditions
    .filter(({ type }) => ["Released", "TestSuccess", "Remediated"].includes(type))
    .map(({ type, status, reason }) => `${type} ${status} ${reason}`);
}

test("an agent that was killed during an upgrade recovers at once: no helm process, no lock, the newest content", async () => {
  await createHelmOp("killed", { helm: { timeoutSeconds: 600, atomic: true } });
  await workspace.waitUntilReady("killed", "1.0.0", 1);
  await change("killed", { helm: { values: { node: "nowhere" } } });
  await waitForRevision(client, "killed", 2, "pending-upgrade");
  const { pid, startedAt } = await helmProcess();

  process.kill(cluster.agent().identity.pid, "SIGKILL");
  await cluster.agent().exited;
  assert.equal(await startOfProcess(pid), startedAt, "helm outlives the agent that was killed");
  await change("killed", { helm: { version: "1.1.0", values: { node: null } } });
  await cluster.startAgent();

  await workspace.waitUntilReady("killed", "1.1.0", 1);
  assert.notEqual(await startOfProcess(pid), startedAt);
  const left = await releaseHistory(client, "killed");
  assert.ok(!left.some((record) => record.includes("pending")), left.join());
  assert.equal((await config("killed")).data?.["version"], "1.1.0");
});

test("an agent that was killed during a rollback recovers at once, too", async () => {
  // It never gets ready, so that the rollback to it takes long.
  await createHelmOp("back", { helm: { values: { node: "nowhere" } } });
  await waitForRevision(client, "back", 1, "deployed");
  await change("back", {
    helm: { timeoutSeconds: 4, atomic: true, values: { greeting: "second" } },
  });
  await waitForRevision(client, "back", 3, "pending-rollback");
  const { pid, startedAt } = await helmProcess();

  process.kill(cluster.agent().identity.pid, "SIGKILL");
  await cluster.agent().exited;
  assert.equal(await startOfProcess(pid), startedAt, "helm outlives the agent that was killed");
  await change("back", { helm: { version: "1.1.0", values: { node: null } } });
  await cluster.startAgent();

  await workspace.waitUntilReady("back", "1.1.0", 1);
  assert.notEqual(await startOfProcess(pid), startedAt);
  assert.ok((await releaseHistory(client, "back")).includes("4 deployed"));
});

test("a content that Helm rejects is ErrApplied with the message of Helm, the release stays, and a correction does not wait", async () => {
  await createHelmOp("rejected");
  await workspace.waitUntilReady("rejected", "1.0.0", 1);

  await change("rejected", { helm: { values: { greeting: "rude" } } });
  const failed = await workspace.waitForHelmOp("rejected", "rejected", ({ status }) =>
    /greeting must be polite/.test(findCondition(status?.conditions, "Ready")?.message ?? ""),
  );
  assert.match(messageOf(failed, "Ready"), /ErrApplied\(1\)/);
  const deployment = await workspace.bundleDeployment(cluster.name, "rejected");
  const ready = findCondition(deployment?.status?.conditions, "Ready");
  assert.equal(ready?.reason, "ErrApplied");
  assert.match(ready.message ?? "", /helm upgrade.*greeting must be polite.*retrying at/s);
  assert.equal((await config("rejected")).data?.["greeting"], "hello");

  await change("rejected", { helm: { values: { greeting: "polite" } } });
  await workspace.waitUntilReady("rejected", "1.0.0", 1);
  assert.equal((await config("rejected")).data?.["greeting"], "polite");
});

test("a suspended HelmOp changes nothing, and is upgraded once it is resumed", async () => {
  await createHelmOp("suspended");
  await workspace.waitUntilReady("suspended", "1.0.0", 1);

  await change("suspended", { suspend: true, helm: { values: { greeting: "newer" } } });
  await workspace.waitForBundleDeployment(
    cluster.name,
    "suspended",
    "staged",
    ({ spec }) => spec.suspend === true && spec.stagedDeploymentID !== spec.deploymentID,
  );
  const archive = join(fleet.dir, "suspended.tgz");
  await writeFile(archive, (await appChart("1.0.0")).bytes);
  await helm("upgrade", "suspended", archive, "--namespace=suspended", "--set=greeting=theirs");
  await createHelmOp("after");
  await workspace.waitUntilReady("after", "1.0.0", 1);
  assert.deepEqual(await releaseHistory(client, "suspended"), ["1 superseded", "2 deployed"]);

  await change("suspended", { suspend: false });
  await config("suspended", (greeting) => greeting === "newer");
});

test("a suspended HelmOp that is deleted leaves its release, which another one adopts", async () => {
  await createHelmOp("left");
  await workspace.waitUntilReady("left", "1.0.0", 1);

  await change("left", { suspend: true });
  await deleteHelmOp("left");
  assert.deepEqual(await releaseHistory(client, "left"), ["1 deployed"]);

  await createHelmOp("left");
  await workspace.waitUntilReady("left", "1.0.0", 1);
  assert.deepEqual(await releaseHistory(client, "left"), ["1 deployed"]);
});

test("a HelmOp whose release name and then whose namespace changes moves the release, and is ready there", async () => {
  await createHelmOp("moving");
  await workspace.waitUntilReady("moving", "1.0.0", 1);

  await change("moving", { helm: { releaseName: "moved" } });
  await config("moved", (greeting) => greeting === "hello", "moving");
  await workspace.waitUntilReady("moving", "1.0.0", 1);
  assert.equal(
    await client.reader.get(configMaps, { namespace: "moving", name: "moving-config" }),
    undefined,
  );
  assert.deepEqual(await releaseHistory(client, "moving"), ["1 deployed"]);

  await change("moving", { namespace: "elsewhere" });
  await config("moved", (greeting) => greeting === "hello", "elsewhere");
  await workspace.waitUntilReady("moving", "1.0.0", 1);
  assert.deepEqual(await releaseHistory(client, "moving"), []);
});

test("a paused HelmOp changes nothing until it is resumed, also after a restart of the agent", async () => {
  await createHelmOp("paused");
  await workspace.waitUntilReady("paused", "1.0.0", 1);

  await change("paused", { paused: true, helm: { values: { greeting: "later" } } });
  await workspace.waitForBundleDeployment(
    cluster.name,
    "paused",
    "staged",
    (found) =>
      found.spec.paused === true && found.spec.stagedDeploymentID !== found.spec.deploymentID,
  );
  const before = await workspace.bundleDeployment(cluster.name, "paused");
  await cluster.stopAgent();
  await cluster.startAgent();
  await createHelmOp("after-paused");
  await workspace.waitUntilReady("after-paused", "1.0.0", 1);
  const reported = await workspace.waitForBundleDeployment(
    cluster.name,
    "paused",
    "reported again",
    (found) => (found.status?.agent?.epoch ?? 0) > (before?.status?.agent?.epoch ?? 0),
  );
  assert.equal(findCondition(reported.status?.conditions, "Deployed")?.status, "True");
  assert.equal(reported.status?.appliedDeploymentID, before?.status?.appliedDeploymentID);
  assert.equal(reported.status?.ready, true);
  assert.deepEqual(await releaseHistory(client, "paused"), ["1 deployed"]);

  await change("paused", { paused: false });
  await config("paused", (greeting) => greeting === "later");
  await workspace.waitUntilReady("paused", "1.0.0", 1);
});

test("a superseded upgrade does not delay the one that replaces it", async () => {
  await createHelmOp("hasty", { helm: { timeoutSeconds: 600 } });
  await workspace.waitUntilReady("hasty", "1.0.0", 1);
  await change("hasty", { helm: { values: { node: "nowhere" } } });
  await waitForRevision(client, "hasty", 2, "deployed");

  await change("hasty", { helm: { version: "1.1.0", values: { node: null } } });

  await workspace.waitUntilReady("hasty", "1.1.0", 1);
});

test("a HelmOp that is deleted before it is ready is uninstalled at once", async () => {
  await createHelmOp("waiting", { helm: { timeoutSeconds: 600, values: { node: "nowhere" } } });
  await waitForRevision(client, "waiting", 1, "deployed");

  await deleteHelmOp("waiting");

  assert.deepEqual(await releaseHistory(client, "waiting"), []);
});

test("an agent that starts while its hub is stopped reconciles its assignments, and reports when the hub is back", async () => {
  await createHelmOp("alone");
  await workspace.waitUntilReady("alone", "1.0.0", 1);
  await fleet.stopHub();
  await cluster.stopAgent();
  await cluster.startAgent();

  await helm("uninstall", "alone", "--namespace=alone");
  await waitForRevision(client, "alone", 1, "deployed");
  assert.equal(cluster.agent().exit(), undefined);

  await fleet.startHub();
  await change("alone", { helm: { version: "1.1.0" } });
  await workspace.waitUntilReady("alone", "1.1.0", 1);
  assert.equal((await config("alone")).data?.["version"], "1.1.0");
});

test("a repository that never responds delays no other deployment", async () => {
  const silent = await startSilentServer();
  onTestFinished(() => silent.close());
  // More than the concurrency limit of an agent.
  const many = 2 * availableParallelism() + 8;
  await Promise.all(
    Array.from({ length: many }, (_, at) =>
      createHelmOp(`silent-${at}`, {
        helm: { repo: "", chart: `${silent.url}/${at}.tgz`, version: "" },
      }),
    ),
  );
  // The concurrency limit for one host.
  await silent.waitForRequests(8);

  await createHelmOp("unaffected");
  await workspace.waitUntilReady("unaffected", "1.0.0", 1);

  assert.equal(silent.aborted, 0);
});
