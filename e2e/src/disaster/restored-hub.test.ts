/** A hub whose API server is restored from an older backup while everything runs. Nothing is uninstalled by that. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { copyEtcdData } from "@flotilla/local/control-plane";
import { bundleDeployments, helmOps } from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import { beforeAll, test } from "vitest";
import { endOfLog, lineInLog } from "../harness/log-file.ts";
import { objectThat } from "../harness/wait.ts";
import { startWorkbench } from "./disaster-fleet.ts";

const bench = await startWorkbench({ ownPlanes: true });
const { fleet, cluster } = bench;
let untouched: Awaited<ReturnType<typeof bench.installed>>;
const backup = join(fleet.dir, "backup");

function deploymentRef(name: string) {
  return { namespace: clusterNamespaceName(workspaceNamespace, cluster.name), name };
}

async function epoch(): Promise<number> {
  return (await bench.clusterThat("there", () => true)).status?.agent?.epoch ?? 0;
}

beforeAll(async () => {
  await Promise.all(["changed", "deleted"].map(bench.install));
  await fleet.stopHub();
  await fleet.restartHubPlane({ meanwhile: () => copyEtcdData(fleet.hubPlane.dir, backup) });
  await fleet.startHub();

  await bench.install("later");
  await bench.change("changed", { version: "1.1.0" });
  await fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name: "deleted" });
  await bench.ready("changed", "1.1.0");
  await objectThat(
    fleet.hub,
    bundleDeployments,
    deploymentRef("deleted"),
    "gone",
    (found) => found === undefined,
  );
  assert.deepEqual(await bench.records("deleted"), []);
  untouched = await bench.installed("changed");
});

test("a leader whose API server is restored while it runs says so and ends: what it remembers is of another past", async () => {
  const from = await endOfLog(fleet.hubLog);

  await fleet.restartHubPlane({ etcdDir: backup });

  const { code } = await fleet.hubProcess().exited;
  assert.equal(code, 1);
  // Which of the two it is depends on how long the restore took.
  const last = /^flotilla-hub: .*(restored from a backup|lease was not renewed for \d+ s)/;
  await lineInLog(fleet.hubLog, from, last);
});

test("the agent converges to what the restored hub wants, and uninstalls nothing", async () => {
  // Of the backup, as all that the restored hub says until the agent has reported.
  const before = await epoch();
  await fleet.startHub();
  await bench.clusterThat("connected anew", ({ status }) => (status?.agent?.epoch ?? 0) > before);

  await bench.record("changed", 3, "deployed");
  await bench.record("deleted", 1, "deployed");
  await bench.ready("changed", "1.0.0");
  await bench.ready("deleted", "1.0.0");
  assert.deepEqual(await bench.installed("changed"), { ...untouched, version: "1.0.0" });
  assert.deepEqual(await bench.records("changed"), ["2 superseded", "3 deployed"]);
  assert.equal((await bench.installed("deleted")).version, "1.0.0");
  await bench.clusterThat(
    "showing the orphan",
    ({ status }) => status?.orphans?.join() === "later",
  );
  assert.deepEqual(await bench.records("later"), ["1 deployed"]);
  assert.equal((await bench.installed("later")).version, "1.0.0");
});

test("what the restored hub does not know is adopted without a run of Helm when it is applied again", async () => {
  await bench.install("later");

  assert.deepEqual(await bench.records("later"), ["1 deployed"]);
  await bench.clusterThat("without orphans", ({ status }) => status?.orphans?.join() === "");
  await bench.change("later", { version: "1.1.0" });
  await bench.ready("later", "1.1.0");
  assert.deepEqual(await bench.records("later"), ["1 superseded", "2 deployed"]);
});

test("reports that the restored hub has stored from a time before it knows of do not stop newer ones", async () => {
  // As a replica would have done that went on over the restore.
  const ref = deploymentRef("changed");
  const ahead = (await epoch()) + 100;
  await fleet.hub.patch(
    bundleDeployments,
    ref,
    { type: "merge", body: { status: { agent: { epoch: ahead, sequence: 1 } } } },
    { subresource: "status" },
  );
  await cluster.stopAgent();
  await cluster.startAgent();
  await bench.clusterThat("ahead", ({ status }) => (status?.agent?.epoch ?? 0) > ahead);

  await bench.change("changed", { version: "1.1.0" });
  await bench.ready("changed", "1.1.0");
});
