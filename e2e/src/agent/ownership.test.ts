/** Releases that others installed, deployments that leave theirs, and namespaces, with the real Helm on a real control plane. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { testDir } from "@flotilla/local/testing";
import type { DeploymentState } from "@flotilla/proto";
import { agentNamespace } from "@flotilla/shared/api/names";
import { configMaps, namespaces, serviceAccounts } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { startInstaller } from "../harness/in-process-installer.ts";
import { clusterRoleFor, roleBindings } from "../harness/rbac.ts";
import { installedConfig, releaseHistory, waitForRevision } from "../harness/releases.ts";
import { waitUntilGone } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";
import { appChart } from "./test-charts.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const agent = await startInstaller(spec);
afterAll(() => agent.stop());

const chart = await appChart("1.0.0");
charts.publish(chart);
const dir = await testDir({ onTestFinished: afterAll });
const archive = join(dir, "app.tgz");
await writeFile(archive, chart.bytes);

const run = promisify(execFile);

async function helm(...args: readonly string[]): Promise<void> {
  const env = { PATH: process.env["PATH"], HOME: dir, KUBECONFIG: spec.kubeconfig };
  await run(spec.helm, [...args], { env });
}

async function assign(name: string, more: Partial<DeploymentSpec> = {}) {
  const request = await assignmentOf({ name, chart, url, ...more });
  await agent.intake.assign(request);
  return request.deployment;
}

function deployed(name: string, revision: number): Promise<DeploymentState> {
  return agent.report(
    (state) =>
      state.name === name && state.phase === "deployed" && state.release?.revision === revision,
  );
}

function failed(name: string, code: string): Promise<DeploymentState> {
  return agent.report((state) => state.name === name && state.code === code);
}

function runsOf(name: string): readonly string[] {
  return agent.helmRuns.flatMap(([command, ...args]) =>
    args.includes(name) ? [command ?? ""] : [],
  );
}

test("a release that was installed by hand is rejected, until it is uninstalled by hand", async () => {
  await helm("install", "theirs", archive, "--namespace=theirs", "--create-namespace");

  await assign("theirs");
  const { message } = await failed("theirs", "RELEASE_EXISTS");

  assert.match(
    message,
    /^release theirs\/theirs exists already, in revision 1, and this agent did not install it; nothing was changed\. Set helm\.takeOwnership/,
  );
  assert.deepEqual(runsOf("theirs"), []);
  await helm("uninstall", "theirs", "--namespace=theirs");
  await deployed("theirs", 1);
});

test("a release that was installed by hand is upgraded as the account, if it may be taken over", async () => {
  await helm("install", "taken", archive, "--namespace=taken", "--create-namespace");
  await client.create(serviceAccounts, { metadata: { namespace: agentNamespace, name: "taken" } });
  await client.create(roleBindings, {
    metadata: { namespace: "taken", name: "taken" },
    ...clusterRoleFor("cluster-admin", "taken"),
  });

  await assign("taken", { helm: { takeOwnership: true }, serviceAccount: "taken" });

  await deployed("taken", 2);
  assert.deepEqual(await releaseHistory(client, "taken"), ["1 superseded", "2 deployed"]);
});

test("an upgrade by hand to the same objects is taken as the agent's own, without a run of Helm", async () => {
  await assign("same");
  await deployed("same", 1);

  await helm("upgrade", "same", archive, "--namespace=same", "--reuse-values");
  await deployed("same", 2);

  assert.deepEqual(runsOf("same"), ["upgrade"]);
});

test("an upgrade by hand to other objects is reverted", async () => {
  await assign("other");
  await deployed("other", 1);

  await helm("upgrade", "other", archive, "--namespace=other", "--set=greeting=theirs");
  await deployed("other", 3);

  assert.equal((await installedConfig(client, "other"))?.data?.["greeting"], "hello");
});

test("a release that a suspended deployment leaves is adopted by the next one, without a run of Helm", async () => {
  const deployment = await assign("left");
  await deployed("left", 1);
  await assign("left", { paused: true });

  await agent.intake.withdraw(deployment, { keepsRelease: true });
  await agent.withdrawn("left");

  assert.deepEqual(await releaseHistory(client, "left"), ["1 deployed"]);
  await assign("left", { uid: "uid-next" });
  await agent.report(
    ({ name, uid, phase }) => name === "left" && uid === "uid-next" && phase === "deployed",
  );
  assert.deepEqual(runsOf("left"), ["upgrade"]);
});

test("the namespace that was created for a release is deleted with it", async () => {
  const deployment = await assign("empty", { deleteNamespace: true });
  await deployed("empty", 1);

  await agent.intake.withdraw(deployment);

  await agent.withdrawn("empty");
  await waitUntilGone(client, namespaces, { name: "empty" });
});

test("the namespace stays if something else is in it, or if it was there before", async () => {
  await client.create(namespaces, { metadata: { name: "before" } });
  const shared = await assign("shared", { deleteNamespace: true });
  const before = await assign("before", { deleteNamespace: true });
  await deployed("shared", 1);
  await deployed("before", 1);
  await client.create(configMaps, { metadata: { namespace: "shared", name: "theirs" } });

  await agent.intake.withdraw(shared);
  await agent.intake.withdraw(before);
  await agent.withdrawn("shared");
  await agent.withdrawn("before");

  for (const name of ["shared", "before"]) {
    const found = await client.reader.get(namespaces, { name });
    assert.ok(found !== undefined && found.metadata.deletionTimestamp === undefined, name);
  }
});

test("nothing is installed in a namespace whose labels are not allowed", async () => {
  const labels = { team: "payments" };
  const allowedNamespaces = { matchLabels: labels };
  await client.create(namespaces, { metadata: { name: "allowed", labels } });
  await client.create(namespaces, { metadata: { name: "denied" } });

  await assign("allowed", { allowedNamespaces });
  await assign("denied", { allowedNamespaces });
  await assign("absent", { allowedNamespaces });

  await deployed("allowed", 1);
  const denied = await failed("denied", "NAMESPACE_NOT_ALLOWED");
  const absent = await failed("absent", "NAMESPACE_NOT_ALLOWED");
  assert.match(denied.message, /namespace denied: the selector does not match/);
  assert.match(absent.message, /namespace absent: it does not exist; nothing was changed/);
  assert.deepEqual(await releaseHistory(client, "denied"), []);
  await waitForRevision(client, "allowed", 1, "deployed");
});
