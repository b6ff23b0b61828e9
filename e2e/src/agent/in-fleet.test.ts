/** Agents that are killed, that Helm rejects, and that run without their hub, and changes made by hand. All tests share a fleet. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAssignment } from "@flotilla/agent/assignment";
import { startOfProcess } from "@flotilla/agent/helm";
import { clusters, type HelmOp, helmOps } from "@flotilla/shared/api";
import {
  agentNamespace,
  reconcileRequestAnnotation,
  resetRequestAnnotation,
} from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { unpackContent } from "@flotilla/shared/content";
import { canonicalJson, rawNumber } from "@flotilla/shared/json";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import { onTestFinished, test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { releaseHistory, waitForRevision } from "../harness/releases.ts";
import { startSilentServer } from "../harness/silent-server.ts";
import { messageOf, waitForObject } from "../harness/wait.ts";
import { resourceQuotas, waitUntilSecretsAre } from "./secret-quota.ts";
import { appChart } from "./test-charts.ts";

const run = promisify(execFile);
const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{}] });
const { workspace } = fleet;
const { client } = cluster;

charts.publish(await appChart("1.0.0"), await appChart("1.1.0"));

type Spec = Partial<HelmOp["spec"]>;

async function createHelmOp(name: string, spec: Spec = {}): Promise<HelmOp> {
  const { helm, ...others } = spec;
  return await workspace.createHelmOp(name, {
    ...others,
    helm: { repo: charts.url, chart: "app", version: "1.0.0", ...helm },
  });
}

async function change(name: string, spec: Spec): Promise<void> {
  await workspace.patchHelmOp(name, spec);
}

/** Resolves when the agent has withdrawn it. */
async function deleteHelmOp(name: string): Promise<void> {
  await workspace.deleteHelmOp(name);
  await workspace.waitUntilUndeployed(cluster.name, name);
}

/** The ConfigMap of the chart, once its greeting is as desired. */
async function config(release: string, isDesired = (_: string) => true, namespace = release) {
  return await waitForObject(
    client,
    configMaps,
    { namespace, name: `${release}-config` },
    "as desired",
    (found) => isDesired(found.data?.["greeting"] ?? ""),
  );
}

async function helm(...args: readonly string[]): Promise<void> {
  await run(fleet.helm, [...args], {
    env: { PATH: process.env["PATH"], HOME: fleet.dir, KUBECONFIG: cluster.plane.kubeconfig },
  });
}

/** Of the agent's current connection. */
async function epochOf(): Promise<number | undefined> {
  return (await fleet.hub.reader.get(clusters, workspace.ref(cluster.name)))?.status?.agent?.epoch;
}

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

test("options of actions reach Helm without running it, those of a target first", async () => {
  await createHelmOp("optioned");
  await workspace.waitUntilReady("optioned", "1.0.0", 1);

  await change("optioned", {
    maxHistory: 1,
    uninstall: { keepHistory: false },
    // It keeps all revisions.
    targets: [{ clusterSelector: {}, maxHistory: 0, uninstall: { keepHistory: true } }],
  });
  for (const version of ["1.1.0", "1.0.0"]) {
    await change("optioned", { helm: { version } });
    await workspace.waitUntilReady("optioned", version, 1);
  }
  const all = ["1 superseded", "2 superseded"];
  assert.deepEqual(await releaseHistory(client, "optioned"), [...all, "3 deployed"]);

  await deleteHelmOp("optioned");
  assert.deepEqual(await releaseHistory(client, "optioned"), [...all, "3 uninstalled"]);
});

test("a failed upgrade is rolled back, with conditions and a history, and tried again on request", async () => {
  const rejected = await chartArchive({
    name: "app",
    version: "9.0.0",
    templates: {
      "rejected.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: []}\n",
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

/** Of a HelmOp. */
async function releaseConditionsOf(name: string): Promise<readonly string[]> {
  const { conditions = [] } = (await workspace.helmOp(name))?.status ?? {};
  return conditions
    .filter(({ type }) => ["Released", "TestSuccess", "Remediated"].includes(type))
    .map(({ type, status, reason }) => `${type} ${status} ${reason}`);
}

test("a HelmOp whose object somebody has changed is Modified, and Ready again once drift is corrected, without a revision", async () => {
  await createHelmOp("drifting");
  await workspace.waitUntilReady("drifting", "1.0.0", 1);
  const ref = { namespace: "drifting", name: "drifting-config" };
  const patch = { type: "merge", body: { data: { greeting: "changed" } } } as const;
  await client.patch(configMaps, ref, patch, { fieldManager: "somebody" });

  const { status } = await workspace.waitForHelmOp(
    "drifting",
    "Modified",
    ({ status }) => status?.display?.state === "Modified",
  );
  assert.equal(status?.summary?.modified, 1);
  assert.match(
    findCondition(status.conditions, "Ready")?.message ?? "",
    /^Modified\(1\) \[Cluster .*: configmap\.v1 drifting\/drifting-config was modified \[.*\/data\/greeting/,
  );
  assert.match(
    findCondition(status.conditions, "Drifted")?.message ?? "",
    /^1 of 1 clusters; .*ConfigMap drifting\/drifting-config: \/data\/greeting was changed by somebody/,
  );
  const modified = await workspace.bundleDeployment(cluster.name, "drifting");
  assert.equal(modified?.status?.nonModified, false);
  assert.deepEqual(
    modified.status.modifiedStatus?.map(({ name, fields, manager }) => [name, fields, manager]),
    [["drifting-config", ["/data/greeting"], "somebody"]],
  );
  assert.ok(JSON.stringify(modified).length < 8_192);

  await change("drifting", { driftDetection: { mode: "enabled" } });
  await workspace.waitUntilReady("drifting", "1.0.0", 1);
  await config("drifting", (greeting) => greeting !== "changed");
  const corrected = await workspace.waitForBundleDeployment(
    cluster.name,
    "drifting",
    "corrected",
    ({ status }) => status?.driftHistory?.some(({ result }) => result === "Corrected") === true,
  );
  assert.equal(corrected.status?.nonModified, true);
  assert.ok(JSON.stringify(corrected).length < 4_096);
  assert.deepEqual(await releaseHistory(client, "drifting"), ["1 deployed"]);
});

test("what post-renderers and common metadata change is deployed, those of a target first, and removed again", async () => {
  const renderer = (greeting: string) => ({
    kustomize: {
      patches: [
        {
          patch: JSON.stringify([{ op: "replace", path: "/data/greeting", value: greeting }]),
          target: { kind: "ConfigMap", name: "rendered-.*" },
        },
      ],
    },
  });
  await createHelmOp("rendered", {
    postRenderers: [renderer("of the HelmOp")],
    commonMetadata: { labels: { team: "a", tier: "web" } },
    targets: [
      {
        clusterSelector: {},
        postRenderers: [renderer("of the target")],
        commonMetadata: { labels: { team: "b" } },
      },
    ],
  });
  await workspace.waitUntilReady("rendered", "1.0.0", 1);
  const { data, metadata } = await config("rendered");
  assert.equal(data?.["greeting"], "of the target");
  assert.deepEqual([metadata.labels?.["team"], metadata.labels?.["tier"]], ["b", "web"]);

  await change("rendered", {
    postRenderers: null,
    commonMetadata: null,
    targets: [{ clusterSelector: {} }],
  });
  await config("rendered", (greeting) => greeting === "hello");
  await workspace.waitUntilReady("rendered", "1.0.0", 1);
  assert.equal((await config("rendered")).metadata.labels?.["tier"], undefined);
});

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

test("an assignment that cannot be stored is ErrApplied with the reason, and the agent stays connected", async () => {
  await createHelmOp("before");
  await workspace.waitUntilReady("before", "1.0.0", 1);
  const epoch = await epochOf();
  const quota = { namespace: agentNamespace, name: "full" };
  await client.create(resourceQuotas, { metadata: quota, ...{ spec: { hard: { secrets: "0" } } } });
  await waitUntilSecretsAre(client, "rejected");

  await createHelmOp("not-stored");
  await workspace.waitForHelmOp("not-stored", "rejected", ({ status }) =>
    /store the assignment in this cluster: create secrets flotilla-agent\/assignment-not-stored .*quota/.test(
      findCondition(status?.conditions, "Ready")?.message ?? "",
    ),
  );
  await change("before", { helm: { values: { greeting: "meanwhile" } } });
  await config("before", (greeting) => greeting === "meanwhile");

  await client.delete(resourceQuotas, quota);
  await waitUntilSecretsAre(client, "accepted");
  await workspace.waitUntilReady("not-stored", "1.0.0", 1);
  assert.equal(await epochOf(), epoch);
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

test("a rollback and an uninstallation by hand are reverted", async () => {
  await createHelmOp("by-hand");
  await workspace.waitUntilReady("by-hand", "1.0.0", 1);
  await change("by-hand", { helm: { values: { greeting: "newer" } } });
  await waitForRevision(client, "by-hand", 2, "deployed");

  await helm("rollback", "by-hand", "1", "--namespace=by-hand");
  await waitForRevision(client, "by-hand", 4, "deployed");
  assert.equal((await config("by-hand")).data?.["greeting"], "newer");

  await helm("uninstall", "by-hand", "--namespace=by-hand");
  await waitForRevision(client, "by-hand", 1, "deployed");
  assert.equal((await config("by-hand")).data?.["greeting"], "newer");
  await workspace.waitUntilReady("by-hand", "1.0.0", 1);
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

test("a second HelmOp for the same release is rejected, and the message names the first", async () => {
  await createHelmOp("owner");
  await workspace.waitUntilReady("owner", "1.0.0", 1);

  await createHelmOp("latecomer", {
    namespace: "owner",
    helm: { releaseName: "owner", version: "1.1.0" },
  });
  await workspace.waitForHelmOp("latecomer", "rejected", ({ status }) =>
    /release owner\/owner belongs to deployment owner;/.test(
      findCondition(status?.conditions, "Ready")?.message ?? "",
    ),
  );
  assert.deepEqual(await releaseHistory(client, "owner"), ["1 deployed"]);

  await deleteHelmOp("latecomer");
  assert.deepEqual(
    await releaseHistory(client, "owner"),
    ["1 deployed"],
    "the first keeps its release",
  );
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

test("large numbers in values reach the agent with all digits", async () => {
  await createHelmOp("numbers", { helm: { values: { big: rawNumber("9007199254740993") } } });
  await workspace.waitUntilReady("numbers", "1.0.0", 1);

  const secret = await client.reader.get(secrets, {
    namespace: agentNamespace,
    name: "assignment-numbers",
  });
  const stored = secret === undefined ? undefined : parseAssignment(secret);
  assert.ok(stored !== undefined);
  const { values } = await unpackContent({
    deploymentId: stored.deploymentId,
    bytes: stored.content,
  });
  // This is the input of Helm, which itself parses it as a floating-point number.
  assert.equal(canonicalJson(values), '{"big":9007199254740993}');
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

test("with keepResources the installed objects outlive their HelmOp, and the records of Helm do not", async () => {
  await createHelmOp("kept", { keepResources: true });
  await workspace.waitUntilReady("kept", "1.0.0", 1);

  await deleteHelmOp("kept");

  assert.equal((await config("kept")).data?.["version"], "1.0.0");
  assert.deepEqual(await releaseHistory(client, "kept"), []);
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
