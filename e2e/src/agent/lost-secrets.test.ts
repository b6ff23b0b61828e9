/**
 * An agent that has lost all its Secrets, and whose deployments are withdrawn meanwhile: with the real Helm on a real control
 * plane, where it may only do what a service account may.
 */
import assert from "node:assert/strict";
import type { AssignmentRequest } from "@flotilla/agent/state";
import { agentNamespace } from "@flotilla/shared/api/names";
import { namespaces, secrets, serviceAccounts } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { roleBindings } from "../harness/rbac.ts";
import { installedConfig, releaseHistory } from "../harness/releases.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";
import { startRestartableAgent } from "./restartable-agent.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const chart = await configChart("settings", "0.1.0");
charts.publish(chart);
const tenant = "team-a";
const account = { namespace: tenant, name: "deployer" };

await client.create(namespaces, { metadata: { name: tenant } });
await client.create(serviceAccounts, { metadata: account });
const agent = await startRestartableAgent({ ...spec, impersonationNamespaces: [tenant] });

async function allow(namespace: string): Promise<void> {
  await client.create(roleBindings, {
    metadata: { namespace, name: "deployer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", ...account }],
  });
}

/** A deployment in a namespace of its own, where the account has rights. */
async function install(
  name: string,
  more: Partial<DeploymentSpec> = {},
): Promise<AssignmentRequest> {
  await client.create(namespaces, { metadata: { name } });
  await allow(name);
  const serviceAccount = `${tenant}/${account.name}`;
  const request = await assignmentOf({ name, chart, url, serviceAccount, ...more });
  await agent.intake.assign(request);
  await agent.report((state) => state.name === name && state.phase === "deployed");
  return request;
}

async function restartWithoutSecrets(): Promise<void> {
  await agent.stop();
  for (const { metadata } of await client.reader.list(secrets, { namespace: agentNamespace }))
    await client.delete(secrets, { namespace: agentNamespace, name: metadata.name });
  await agent.start();
}

/** As the hub withdraws a deployment that it knows the agent had. */
async function withdraw({ deployment, deploymentId, content }: AssignmentRequest): Promise<void> {
  assert.ok(content !== undefined);
  await agent.intake.withdraw(deployment, { lost: { deploymentId, content } });
}

test("uninstalls as the account what it has lost, without its hooks, before it confirms the withdrawal", async () => {
  const gone = await install("gone");
  const kept = await install("kept", { keepResources: true });
  await restartWithoutSecrets();

  await withdraw(gone);
  await withdraw(kept);
  await Promise.all([agent.withdrawn("gone"), agent.withdrawn("kept")]);

  assert.deepEqual(await releaseHistory(client, "gone"), []);
  assert.equal(await installedConfig(client, "gone"), undefined);
  assert.deepEqual(await releaseHistory(client, "kept"), []);
  assert.notEqual(await installedConfig(client, "kept"), undefined);
  assert.deepEqual(
    agent.helmRuns.map((args) => [args[0], args.includes("--no-hooks")]),
    [["uninstall", true]],
  );
});

test("does not confirm while the account may not look for the release, and says which right is missing, also after a restart", async () => {
  const denied = await install("denied");
  await restartWithoutSecrets();
  await client.delete(roleBindings, { namespace: "denied", name: "deployer" });

  await withdraw(denied);
  const missing =
    /look for the release .* in namespace denied as service account team-a\/deployer, .*service account team-a\/deployer may not list secrets .*in namespace denied; the withdrawal is not confirmed/s;
  await agent.report(({ name, message }) => name === "denied" && missing.test(message));
  await agent.restart();
  await agent.report(({ name, message }) => name === "denied" && missing.test(message));
  assert.notEqual(await installedConfig(client, "denied"), undefined);

  await agent.stop();
  await allow("denied");
  await agent.start();
  await agent.withdrawn("denied");
  assert.equal(await installedConfig(client, "denied"), undefined);
});

test("looks for what it has lost also if it was restarted before the hub withdrew it", async () => {
  const later = await install("later");
  await restartWithoutSecrets();
  await agent.restart();

  await withdraw(later);
  await agent.withdrawn("later");

  assert.deepEqual(await releaseHistory(client, "later"), []);
});

test("confirms without looking for a release once the hub has sent everything", async () => {
  const known = await install("known");
  await agent.intake.synced();
  await withdraw(known);
  await agent.withdrawn("known");
  await client.delete(roleBindings, { namespace: "known", name: "deployer" });
  await agent.restart();

  await withdraw(known);
  await agent.withdrawn("known");
});

test("uninstalls what was assigned again and withdrawn before it was reconciled", async () => {
  const request = await install("again");
  await restartWithoutSecrets();
  // Paused, so that it is not taken over.
  await agent.intake.assign({ ...request, paused: true });
  await agent.report(({ name, message }) => name === "again" && message === "paused");
  await withdraw(request);
  await agent.withdrawn("again");

  assert.deepEqual(await releaseHistory(client, "again"), []);
  assert.equal(await installedConfig(client, "again"), undefined);
});
