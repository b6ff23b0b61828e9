/** What an agent makes of trouble: killed, refused by Helm, interfered with, left alone by its hub. One real fleet for all of it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAssignment } from "@flotilla/agent/assignment";
import { startOfProcess } from "@flotilla/agent/helm";
import {
  apiVersion,
  bundleDeployments,
  clusters,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import {
  agentNamespace,
  clusterNamespaceName,
  workspaceNamespace,
} from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { unpackContent } from "@flotilla/shared/content";
import { canonicalJson, rawNumber } from "@flotilla/shared/json";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, onTestFinished, test } from "vitest";
import { startChartServer } from "../harness/chart-server.ts";
import { startTestFleet } from "../harness/fleet.ts";
import { startSilentServer } from "../harness/silent-server.ts";
import { helmOpThat, isReady, objectThat } from "../harness/wait.ts";
import { appChart } from "./app-chart.ts";
import { resourceQuotas, untilSecretsAre } from "./secret-quota.ts";

const run = promisify(execFile);
const fleet = await startTestFleet({ clusters: [{}] });
afterAll(() => fleet.close());
const charts = await startChartServer();
afterAll(() => charts.close());
const [cluster] = fleet.clusters;
assert.ok(cluster !== undefined);
const { rest } = cluster;

charts.publish(await appChart("1.0.0"), await appChart("1.1.0"));

type Spec = Partial<HelmOp["spec"]>;

async function createHelmOp(name: string, spec: Spec = {}): Promise<HelmOp> {
  const { helm, ...rest } = spec;
  return await fleet.hub.create(helmOps, {
    apiVersion,
    kind: "HelmOp",
    metadata: { namespace: workspaceNamespace, name },
    spec: {
      namespace: name,
      targets: [{ clusterSelector: {} }],
      ...rest,
      helm: { repo: charts.url, chart: "app", version: "1.0.0", ...helm },
    },
  });
}

async function change(name: string, spec: Spec): Promise<void> {
  const ref = { namespace: workspaceNamespace, name };
  await fleet.hub.patch(helmOps, ref, { type: "merge", body: { spec } });
}

/** Resolves when the agent has withdrawn it. */
async function deleteHelmOp(name: string): Promise<void> {
  await fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name });
  await objectThat(
    fleet.hub,
    bundleDeployments,
    { namespace: clusterNamespaceName(workspaceNamespace, cluster?.name ?? ""), name },
    "gone",
    (found) => found === undefined,
  );
}

/** What the chart's ConfigMap says, once it is as wanted. */
async function config(release: string, isWanted = (_: string) => true, namespace = release) {
  return await objectThat(
    rest,
    configMaps,
    { namespace, name: `${release}-config` },
    "as wanted",
    (found) => isWanted(found?.data?.["greeting"] ?? ""),
  );
}

/** `revision status` of each of Helm's records, in order. */
async function records(namespace: string): Promise<readonly string[]> {
  const { items } = await rest.list(secrets, { namespace, labelSelector: "owner=helm" });
  return items
    .map(({ metadata }) => `${metadata.labels?.["version"]} ${metadata.labels?.["status"]}`)
    .sort();
}

/** Waits for a record of Helm. */
async function recordThat(release: string, revision: number, status: string): Promise<void> {
  await objectThat(
    rest,
    secrets,
    { namespace: release, name: `sh.helm.release.v1.${release}.v${revision}` },
    status,
    (found) => found?.metadata.labels?.["status"] === status,
  );
}

async function helm(...args: readonly string[]): Promise<void> {
  await run(fleet.helm, [...args], {
    env: { PATH: process.env["PATH"], HOME: fleet.dir, KUBECONFIG: cluster?.plane.kubeconfig },
  });
}

/** Of the agent's present connection. */
async function epochOf(): Promise<number | undefined> {
  const ref = { namespace: workspaceNamespace, name: cluster?.name ?? "" };
  return (await fleet.hub.get(clusters, ref))?.status?.agent?.epoch;
}

/** The process of the only run of Helm that is under way, as the agent has noted it. */
async function helmProcess(): Promise<{ readonly pid: number; readonly startedAt: string }> {
  const dir = join(fleet.dir, "cluster-1-agent", "runs");
  for (const file of await readdir(dir)) {
    const note = JSON.parse(await readFile(join(dir, file), "utf8")) as {
      process?: { pid: number; startedAt: string };
    };
    if (note.process !== undefined) return note.process;
  }
  throw new Error("no run of Helm is noted");
}

test("an agent that was killed in mid-upgrade recovers at once: no helm process, no lock, the newest wish", async () => {
  await createHelmOp("killed", { helm: { timeoutSeconds: 600 } });
  await helmOpThat(fleet.hub, "killed", "ready", isReady("1.0.0", 1));
  await change("killed", { helm: { values: { node: "nowhere" } } });
  await recordThat("killed", 2, "pending-upgrade");
  const { pid, startedAt } = await helmProcess();

  process.kill(cluster.agent().identity.pid, "SIGKILL");
  await cluster.agent().exited;
  assert.equal(await startOfProcess(pid), startedAt, "helm outlives the agent that was killed");
  await change("killed", { helm: { version: "1.1.0", values: { node: null } } });
  await cluster.startAgent();

  await helmOpThat(fleet.hub, "killed", "ready", isReady("1.1.0", 1));
  assert.notEqual(await startOfProcess(pid), startedAt);
  const left = await records("killed");
  assert.ok(!left.some((record) => record.includes("pending")), left.join());
  assert.equal((await config("killed"))?.data?.["version"], "1.1.0");
});

test("an agent that was killed while Helm went back recovers at once, too", async () => {
  // Never ready, and nobody waits for it: so the way back to it takes its time.
  await createHelmOp("back", { helm: { values: { node: "nowhere" } } });
  await recordThat("back", 1, "deployed");
  await change("back", {
    helm: { timeoutSeconds: 4, atomic: true, values: { greeting: "second" } },
  });
  await recordThat("back", 3, "pending-rollback");
  const { pid, startedAt } = await helmProcess();

  process.kill(cluster.agent().identity.pid, "SIGKILL");
  await cluster.agent().exited;
  assert.equal(await startOfProcess(pid), startedAt, "helm outlives the agent that was killed");
  await change("back", { helm: { version: "1.1.0", values: { node: null } } });
  await cluster.startAgent();

  await helmOpThat(fleet.hub, "back", "ready", isReady("1.1.0", 1));
  assert.notEqual(await startOfProcess(pid), startedAt);
  assert.ok((await records("back")).includes("4 deployed"));
});

test("an assignment that cannot be kept is ErrApplied with the reason, and the agent stays connected", async () => {
  await createHelmOp("before");
  await helmOpThat(fleet.hub, "before", "ready", isReady("1.0.0", 1));
  const epoch = await epochOf();
  const quota = { namespace: agentNamespace, name: "full" };
  await rest.create(resourceQuotas, { metadata: quota, ...{ spec: { hard: { secrets: "0" } } } });
  await untilSecretsAre(rest, "refused");

  await createHelmOp("unkept");
  await helmOpThat(fleet.hub, "unkept", "refused", ({ status }) =>
    /store the assignment in this cluster: create secrets flotilla-agent\/assignment-unkept .*quota/.test(
      findCondition(status?.conditions, "Ready")?.message ?? "",
    ),
  );
  await change("before", { helm: { values: { greeting: "meanwhile" } } });
  await config("before", (greeting) => greeting === "meanwhile");

  await rest.delete(resourceQuotas, quota);
  await untilSecretsAre(rest, "taken");
  await helmOpThat(fleet.hub, "unkept", "ready", isReady("1.0.0", 1));
  assert.equal(await epochOf(), epoch);
});

test("what Helm refuses is ErrApplied in its words, what was installed stays, and mending it does not wait", async () => {
  await createHelmOp("refused");
  await helmOpThat(fleet.hub, "refused", "ready", isReady("1.0.0", 1));

  await change("refused", { helm: { values: { greeting: "rude" } } });
  const failed = await helmOpThat(fleet.hub, "refused", "refused", ({ status }) =>
    /greeting must be polite/.test(findCondition(status?.conditions, "Ready")?.message ?? ""),
  );
  assert.match(findCondition(failed.status?.conditions, "Ready")?.message ?? "", /ErrApplied\(1\)/);
  const deployment = await fleet.hub.get(bundleDeployments, {
    namespace: clusterNamespaceName(workspaceNamespace, cluster.name),
    name: "refused",
  });
  const ready = findCondition(deployment?.status?.conditions, "Ready");
  assert.equal(ready?.reason, "ErrApplied");
  assert.match(ready.message ?? "", /helm upgrade.*greeting must be polite.*retrying at/s);
  assert.equal((await config("refused"))?.data?.["greeting"], "hello");

  await change("refused", { helm: { values: { greeting: "polite" } } });
  await helmOpThat(fleet.hub, "refused", "ready", isReady("1.0.0", 1));
  assert.equal((await config("refused"))?.data?.["greeting"], "polite");
});

test("a rollback and a removal by hand are put right", async () => {
  await createHelmOp("by-hand");
  await helmOpThat(fleet.hub, "by-hand", "ready", isReady("1.0.0", 1));
  await change("by-hand", { helm: { values: { greeting: "newer" } } });
  await recordThat("by-hand", 2, "deployed");

  await helm("rollback", "by-hand", "1", "--namespace=by-hand");
  await recordThat("by-hand", 4, "deployed");
  assert.equal((await config("by-hand"))?.data?.["greeting"], "newer");

  await helm("uninstall", "by-hand", "--namespace=by-hand");
  await recordThat("by-hand", 1, "deployed");
  assert.equal((await config("by-hand"))?.data?.["greeting"], "newer");
  await helmOpThat(fleet.hub, "by-hand", "ready", isReady("1.0.0", 1));
});

test("a HelmOp whose release name and then whose namespace changes moves the release, and is ready there", async () => {
  await createHelmOp("moving");
  await helmOpThat(fleet.hub, "moving", "ready", isReady("1.0.0", 1));

  await change("moving", { helm: { releaseName: "moved" } });
  await config("moved", (greeting) => greeting === "hello", "moving");
  await helmOpThat(fleet.hub, "moving", "ready", isReady("1.0.0", 1));
  assert.equal(
    await rest.get(configMaps, { namespace: "moving", name: "moving-config" }),
    undefined,
  );
  assert.deepEqual(await records("moving"), ["1 deployed"]);

  await change("moving", { namespace: "elsewhere" });
  await config("moved", (greeting) => greeting === "hello", "elsewhere");
  await helmOpThat(fleet.hub, "moving", "ready", isReady("1.0.0", 1));
  assert.deepEqual(await records("moving"), []);
});

test("a second HelmOp for the same release is refused, and the first is named", async () => {
  await createHelmOp("holder");
  await helmOpThat(fleet.hub, "holder", "ready", isReady("1.0.0", 1));

  await createHelmOp("latecomer", {
    namespace: "holder",
    helm: { releaseName: "holder", version: "1.1.0" },
  });
  await helmOpThat(fleet.hub, "latecomer", "refused", ({ status }) =>
    /release holder\/holder belongs to deployment holder;/.test(
      findCondition(status?.conditions, "Ready")?.message ?? "",
    ),
  );
  assert.deepEqual(await records("holder"), ["1 deployed"]);

  await deleteHelmOp("latecomer");
  assert.deepEqual(await records("holder"), ["1 deployed"], "the first keeps what it has");
});

test("a paused HelmOp changes nothing until it is unpaused, also when its agent starts anew", async () => {
  await createHelmOp("paused");
  await helmOpThat(fleet.hub, "paused", "ready", isReady("1.0.0", 1));
  const ref = {
    namespace: clusterNamespaceName(workspaceNamespace, cluster.name),
    name: "paused",
  };

  await change("paused", { paused: true, helm: { values: { greeting: "later" } } });
  await objectThat(
    fleet.hub,
    bundleDeployments,
    ref,
    "staged",
    (found) =>
      found?.spec.paused === true && found.spec.stagedDeploymentID !== found.spec.deploymentID,
  );
  const before = await fleet.hub.get(bundleDeployments, ref);
  await cluster.stopAgent();
  await cluster.startAgent();
  await createHelmOp("after-paused");
  await helmOpThat(fleet.hub, "after-paused", "ready", isReady("1.0.0", 1));
  const reported = await objectThat(
    fleet.hub,
    bundleDeployments,
    ref,
    "reported anew",
    (found) => (found?.status?.agent?.epoch ?? 0) > (before?.status?.agent?.epoch ?? 0),
  );
  assert.equal(findCondition(reported?.status?.conditions, "Deployed")?.status, "True");
  assert.equal(reported?.status?.appliedDeploymentID, before?.status?.appliedDeploymentID);
  assert.equal(reported?.status?.ready, true);
  assert.deepEqual(await records("paused"), ["1 deployed"]);

  await change("paused", { paused: false });
  await config("paused", (greeting) => greeting === "later");
  await helmOpThat(fleet.hub, "paused", "ready", isReady("1.0.0", 1));
});

test("large numbers in values reach the agent to the last digit", async () => {
  await createHelmOp("numbers", { helm: { values: { big: rawNumber("9007199254740993") } } });
  await helmOpThat(fleet.hub, "numbers", "ready", isReady("1.0.0", 1));

  const secret = await rest.get(secrets, { namespace: agentNamespace, name: "assignment-numbers" });
  const held = secret === undefined ? undefined : parseAssignment(secret);
  assert.ok(held !== undefined);
  const { values } = await unpackContent({ deploymentId: held.deploymentId, bytes: held.content });
  // Which is what Helm gets. Helm itself makes a floating-point number of it, from whatever file it reads it.
  assert.equal(canonicalJson(values), '{"big":9007199254740993}');
});

test("what nobody waits for any more does not hold up what is wanted instead", async () => {
  await createHelmOp("hasty", { helm: { timeoutSeconds: 600 } });
  await helmOpThat(fleet.hub, "hasty", "ready", isReady("1.0.0", 1));
  await change("hasty", { helm: { values: { node: "nowhere" } } });
  await recordThat("hasty", 2, "pending-upgrade");

  await change("hasty", { helm: { version: "1.1.0", values: { node: null } } });

  await helmOpThat(fleet.hub, "hasty", "ready", isReady("1.1.0", 1));
});

test("a HelmOp that is deleted while Helm waits is uninstalled without waiting", async () => {
  await createHelmOp("waiting", { helm: { timeoutSeconds: 600, values: { node: "nowhere" } } });
  await recordThat("waiting", 1, "pending-install");

  await deleteHelmOp("waiting");

  assert.deepEqual(await records("waiting"), []);
});

test("with keepResources what was installed outlives its HelmOp, and Helm's records do not", async () => {
  await createHelmOp("kept", { keepResources: true });
  await helmOpThat(fleet.hub, "kept", "ready", isReady("1.0.0", 1));

  await deleteHelmOp("kept");

  assert.equal((await config("kept"))?.data?.["version"], "1.0.0");
  assert.deepEqual(await records("kept"), []);
});

test("an agent that starts while its hub is away keeps up what it was assigned, and reports when the hub is back", async () => {
  await createHelmOp("alone");
  await helmOpThat(fleet.hub, "alone", "ready", isReady("1.0.0", 1));
  await fleet.stopHub();
  await cluster.stopAgent();
  await cluster.startAgent();

  await helm("uninstall", "alone", "--namespace=alone");
  await recordThat("alone", 1, "deployed");
  assert.equal(cluster.agent().exit(), undefined);

  await fleet.startHub();
  await change("alone", { helm: { version: "1.1.0" } });
  await helmOpThat(fleet.hub, "alone", "ready at 1.1.0", isReady("1.1.0", 1));
  assert.equal((await config("alone"))?.data?.["version"], "1.1.0");
});

test("a repository that never gives a chart holds up nobody else", async () => {
  const silent = await startSilentServer();
  onTestFinished(() => silent.close());
  // More than an agent works on at a time.
  const many = 2 * availableParallelism() + 8;
  await Promise.all(
    Array.from({ length: many }, (_, at) =>
      createHelmOp(`silent-${at}`, {
        helm: { repo: "", chart: `${silent.url}/${at}.tgz`, version: "" },
      }),
    ),
  );
  // As many as are asked of one host at a time.
  await silent.asked(8);

  await createHelmOp("unhindered");
  await helmOpThat(fleet.hub, "unhindered", "ready", isReady("1.0.0", 1));

  assert.equal(silent.givenUp, 0);
});
