/** A hub whose API server is restored from an older backup while everything runs. Nothing is uninstalled by that. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { ensureBinaries } from "@flotilla/local/binaries";
import { copyEtcdData } from "@flotilla/local/control-plane";
import { bundleDeployments, helmOps } from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace } from "@flotilla/shared/api/names";
import { beforeAll, test } from "vitest";
import { endOfLog, lineInLog } from "../harness/log-file.ts";
import { startDisasterFleet } from "./disaster-fleet.ts";

const disaster = await startDisasterFleet({ ownPlanes: true });
const { fleet, cluster } = disaster;
let untouched: Awaited<ReturnType<typeof disaster.installed>>;
const backup = join(fleet.dir, "backup");

/** The epoch of the last stored report about a deployment. */
async function reportedEpoch(name: string): Promise<number> {
  const deployment = await fleet.workspace.bundleDeployment(cluster.name, name);
  return deployment?.status?.agent?.epoch ?? 0;
}

/**
 * A report of a later stream is stored. The Cluster need not show the epoch of that stream: it is not written when it has the
 * agent as connected to this replica, and the same orphans, which the hub may have recorded between the restore and its end.
 */
async function reportedAfter(name: string, epoch: number): Promise<void> {
  await fleet.workspace.waitForBundleDeployment(
    cluster.name,
    name,
    `reported after epoch ${epoch}`,
    ({ status }) => (status?.agent?.epoch ?? 0) > epoch,
  );
}

/** Runs the commands of docs/operations.md, which a person runs before the restored hub is started. */
async function pauseEverything(): Promise<void> {
  const guide = await readFile(join(import.meta.dirname, "../../../docs/operations.md"), "utf8");
  const [, commands] = /^```sh\n(pause\(\) .*?)^```$/ms.exec(guide) ?? [];
  assert.ok(commands !== undefined);
  const { kubectl } = await ensureBinaries(["kubectl"]);
  await promisify(execFile)("bash", ["-euo", "pipefail", "-c", commands], {
    env: {
      PATH: [dirname(kubectl), process.env["PATH"]].join(delimiter),
      KUBECONFIG: fleet.hubPlane.kubeconfig,
      // kubectl keeps a cache there.
      HOME: fleet.dir,
    },
  });
}

beforeAll(async () => {
  await Promise.all(["changed", "deleted"].map(disaster.install));
  await fleet.stopHub();
  await fleet.restartHubPlane({ meanwhile: () => copyEtcdData(fleet.hubPlane.dir, backup) });
  await fleet.startHub();

  await disaster.install("later");
  await disaster.change("changed", { version: "1.1.0" });
  await fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name: "deleted" });
  await disaster.ready("changed", "1.1.0");
  await fleet.workspace.waitUntilUndeployed(cluster.name, "deleted");
  assert.deepEqual(await disaster.records("deleted"), []);
  untouched = await disaster.installed("changed");
});

test("a leader whose API server is restored while it runs logs it and ends, because its caches are of another history", async () => {
  const from = await endOfLog(fleet.hubLog);

  await fleet.restartHubPlane({ etcdDir: backup });

  const { code } = await fleet.hubProcess().exited;
  assert.equal(code, 1);
  // Which of the two depends on how long the restore took.
  const last = /^flotilla-hub: .*(restored from a backup|lease was not renewed for [\d.]+ s)/;
  await lineInLog(fleet.hubLog, from, last);
  // Only the caches of this leader had its Bundle after the restore.
  assert.equal(await fleet.workspace.bundleDeployment(cluster.name, "later"), undefined);
});

test("a hub that starts with everything paused changes nothing in the cluster", async () => {
  // Until the agent has reported, every status is that of the backup.
  const before = {
    changed: await reportedEpoch("changed"),
    deleted: await reportedEpoch("deleted"),
  };
  await pauseEverything();
  await fleet.startHub();

  await reportedAfter("changed", before.changed);
  await reportedAfter("deleted", before.deleted);
  assert.deepEqual(await disaster.installed("changed"), untouched);
  assert.deepEqual(await disaster.records("changed"), ["1 superseded", "2 deployed"]);
  assert.deepEqual(await disaster.records("deleted"), []);
});

test("once it is resumed the agent converges to the desired state of the restored hub, and uninstalls nothing", async () => {
  for (const name of ["changed", "deleted"])
    await fleet.workspace.patchHelmOp(name, { paused: null });

  await disaster.record("changed", 3, "deployed");
  await disaster.record("deleted", 1, "deployed");
  await disaster.ready("changed", "1.0.0");
  await disaster.ready("deleted", "1.0.0");
  assert.deepEqual(await disaster.installed("changed"), { ...untouched, version: "1.0.0" });
  assert.deepEqual(await disaster.records("changed"), ["2 superseded", "3 deployed"]);
  assert.equal((await disaster.installed("deleted")).version, "1.0.0");
  await disaster.clusterThat(
    "showing the orphan",
    ({ status }) => status?.orphans?.join() === "later",
  );
  assert.deepEqual(await disaster.records("later"), ["1 deployed"]);
  assert.equal((await disaster.installed("later")).version, "1.0.0");
});

test("an orphan is adopted without a run of Helm when its HelmOp is applied again", async () => {
  await disaster.install("later");

  assert.deepEqual(await disaster.records("later"), ["1 deployed"]);
  await disaster.clusterThat("without orphans", ({ status }) => status?.orphans?.join() === "");
  await disaster.change("later", { version: "1.1.0" });
  await disaster.ready("later", "1.1.0");
  assert.deepEqual(await disaster.records("later"), ["1 superseded", "2 deployed"]);
});

test("a report with an epoch ahead of the restored hub does not block newer reports", async () => {
  // As a replica writes it that continues during the restore.
  const ref = {
    namespace: clusterNamespaceName(workspaceNamespace, cluster.name),
    name: "changed",
  };
  const ahead = (await reportedEpoch("changed")) + 100;
  await fleet.hub.patch(
    bundleDeployments,
    ref,
    { type: "merge", body: { status: { agent: { epoch: ahead, sequence: 1 } } } },
    { subresource: "status" },
  );
  await cluster.stopAgent();
  await cluster.startAgent();
  await disaster.clusterThat("ahead", ({ status }) => (status?.agent?.epoch ?? 0) > ahead);

  await disaster.change("changed", { version: "1.1.0" });
  await disaster.ready("changed", "1.1.0");
});
