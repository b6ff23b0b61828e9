/**
 * Records and labels that a tenant of the cluster writes, on a real control plane and with the real Helm. The deployments act
 * as the agent itself unless a test says otherwise, so Helm could change anything.
 */
import assert from "node:assert/strict";
import { gunzipSync, gzipSync } from "node:zlib";
import type { AssignmentRequest } from "@flotilla/agent/assignment";
import type { DeploymentState } from "@flotilla/proto";
import { agentNamespace } from "@flotilla/shared/api/names";
import { packContent, unpackContent } from "@flotilla/shared/content";
import { configMaps, namespaces, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { afterAll, onTestFinished, test } from "vitest";
import { chartArchive, configChart } from "../harness/chart-archive.ts";
import {
  type InProcessInstaller,
  type InstallerSpec,
  startInstaller,
} from "../harness/in-process-installer.ts";
import { createAdmin } from "../harness/rbac.ts";
import { installedConfig, releaseHistory, waitForRevision } from "../harness/releases.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const first = await configChart("settings", "0.1.0");
const second = await configChart("settings", "0.2.0");
const hooked = await chartArchive({
  name: "hooked",
  version: "0.1.0",
  templates: {
    "config.yaml": configOf("{{ .Release.Name }}-config"),
    "hook.yaml": `${configOf("{{ .Release.Name }}-farewell")}  annotations: {helm.sh/hook: pre-delete}\n`,
    "fail.yaml":
      "{{ if .Values.fail }}apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n{{ end }}",
  },
});
/** An update that the API server rejects, after Helm has stored the revision. */
const rejected = await chartArchive({
  name: "settings",
  version: "0.3.0",
  templates: { "config.yaml": `${configOf("Not_A_Name")}` },
});
/** Its test is always rejected by the API server. */
const failing = await chartArchive({
  name: "failing",
  version: "0.1.0",
  templates: {
    "config.yaml": configOf("{{ .Release.Name }}-config"),
    "test.yaml":
      "apiVersion: v1\nkind: Service\nmetadata: {name: rejected, annotations: {helm.sh/hook: test}}\nspec: {ports: []}\n",
  },
});
charts.publish(first, second, hooked, rejected, failing);
const tenant = "tenant";
await client.create(namespaces, { metadata: { name: tenant } });

let agent: InProcessInstaller = await startInstaller(spec);
afterAll(() => agent.stop());

async function restart(changed: Partial<InstallerSpec> = {}): Promise<void> {
  await agent.stop();
  agent = await startInstaller({ ...spec, ...changed });
}

function configOf(name: string, namespace?: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${namespace === undefined ? "" : `  namespace: ${namespace}\n`}`;
}

async function assign(deployment: DeploymentSpec): Promise<AssignmentRequest> {
  const request = await assignmentOf(deployment);
  await agent.intake.assign(request);
  return request;
}

function isDeployed(name: string, chartVersion: string): (state: DeploymentState) => boolean {
  return (state) =>
    state.name === name &&
    state.phase === "deployed" &&
    state.release?.chartVersion === chartVersion;
}

function hasCode(name: string, code: string): (state: DeploymentState) => boolean {
  return (state) => state.name === name && state.code === code;
}

/** A change of forceSyncGeneration, which is how a user forces a deployment. */
async function force(request: AssignmentRequest, generation: number): Promise<void> {
  const { deploymentId, content: bytes = new Uint8Array() } = request;
  const content = await unpackContent({ deploymentId, bytes });
  const packed = await packContent({ ...content, forceSyncGeneration: generation });
  await agent.intake.assign({
    ...request,
    deploymentId: packed.deploymentId,
    content: packed.bytes,
  });
}

function runsOf(name: string): readonly (readonly string[])[] {
  return agent.helmRuns.filter((args) => args.includes(name));
}

async function recordOf(name: string, revision: number): Promise<Secret> {
  const ref = { namespace: name, name: `sh.helm.release.v1.${name}.v${revision}` };
  const found = await client.reader.get(secrets, ref);
  assert.ok(found !== undefined);
  return found;
}

type Release = Readonly<Record<string, unknown>>;

/** The record with other fields of its release. */
function edited(secret: Secret, change: (release: Release) => Release): Secret["data"] {
  const inner = Buffer.from(secret.data?.["release"] ?? "", "base64").toString();
  const release = JSON.parse(gunzipSync(Buffer.from(inner, "base64")).toString()) as Release;
  const packed = gzipSync(JSON.stringify(change(release))).toString("base64");
  return { release: Buffer.from(packed).toString("base64") };
}

function withHook(name: string, event = "pre-delete"): (release: Release) => Release {
  return (release) => ({
    ...release,
    hooks: [
      {
        name,
        kind: "ConfigMap",
        path: "x/hook.yaml",
        manifest: configOf(name, "kube-system"),
        events: [event],
      },
    ],
  });
}

function withObject(name: string): (release: Release) => Release {
  return (release) => ({
    ...release,
    manifest: `${String(release["manifest"])}\n---\n${configOf(name, "kube-system")}`,
  });
}

async function edit(name: string, revision: number, change: (release: Release) => Release) {
  const record = await recordOf(name, revision);
  const { name: secretName, namespace = "" } = record.metadata;
  const body = { data: edited(record, change) };
  await client.patch(secrets, { namespace, name: secretName }, { type: "merge", body });
}

/** Those of the agent with this in their names. */
async function deleteSecrets(part: string): Promise<void> {
  for (const { metadata } of await client.reader.list(secrets, { namespace: agentNamespace }))
    if (metadata.name.includes(part))
      await client.delete(secrets, { namespace: agentNamespace, name: metadata.name });
}

async function inKubeSystem(name: string): Promise<boolean> {
  return (await client.reader.get(configMaps, { namespace: "kube-system", name })) !== undefined;
}

async function createTarget(name: string): Promise<void> {
  await client.create(configMaps, { metadata: { namespace: "kube-system", name } });
}

test("a copy of a release record in a tenant's namespace is not uninstalled, and its hook does not run", async () => {
  const victim = await assign({ name: "victim", chart: first, url });
  await agent.report(isDeployed("victim", "0.1.0"));
  const record = await recordOf("victim", 1);
  await client.create(secrets, {
    metadata: {
      namespace: tenant,
      name: "sh.helm.release.v1.forged.v1",
      labels: { ...record.metadata.labels, name: "forged" },
    },
    type: record.type ?? "",
    data:
      edited(record, (release) => ({
        ...withHook("grant")(release),
        name: "forged",
        namespace: tenant,
      })) ?? {},
  });

  await assign({ name: "victim", chart: second, url });
  await agent.report(isDeployed("victim", "0.2.0"));
  await agent.intake.withdraw(victim.deployment);
  await agent.withdrawn("victim");

  assert.deepEqual(await releaseHistory(client, tenant), ["1 deployed"]);
  assert.equal(await inKubeSystem("grant"), false);
  assert.deepEqual(runsOf("forged"), []);
});

test("a ConfigMap with the label of a downstream resource is not deleted, and stops nothing", async () => {
  const labels = { "fleet.cattle.io/bundledeployment": "labelled" };
  await client.create(configMaps, { metadata: { namespace: tenant, name: "labelled", labels } });
  const { deployment } = await assign({ name: "labelled", chart: first, url });
  await agent.report(isDeployed("labelled", "0.1.0"));

  await assign({ name: "labelled", chart: second, url });
  await agent.report(isDeployed("labelled", "0.2.0"));
  await agent.intake.withdraw(deployment);
  await agent.withdrawn("labelled");

  const found = await client.reader.get(configMaps, { namespace: tenant, name: "labelled" });
  assert.ok(found !== undefined);
});

test("the hooks of a chart run when its release is uninstalled", async () => {
  const { deployment } = await assign({ name: "hooked", chart: hooked, url });
  await agent.report(isDeployed("hooked", "0.1.0"));

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("hooked");

  const ref = { namespace: "hooked", name: "hooked-farewell" };
  assert.ok((await client.reader.get(configMaps, ref)) !== undefined);
});

test("a hook that was written into a record does not run", async () => {
  const { deployment } = await assign({ name: "changed", chart: first, url });
  await agent.report(isDeployed("changed", "0.1.0"));
  await restart();
  await edit("changed", 1, withHook("farewell"));
  await agent.intake.withdraw(deployment);
  await agent.withdrawn("changed");

  assert.equal(await inKubeSystem("farewell"), false);
  assert.equal(await installedConfig(client, "changed"), undefined);
});

test("a test that was written into a record does not run, also when the tests are repeated", async () => {
  const chart = failing;
  await assign({ name: "tested", chart, url, actions: { test: { enable: true } } });
  await agent.report(hasCode("tested", "HELM_FAILED"));
  assert.equal(runsOf("tested").filter(([command]) => command === "test").length, 1);

  await edit("tested", 1, withHook("written-test", "test"));

  // The record is not the agent's any more, so the release is upgraded before it is tested again.
  await waitForRevision(client, "tested", 2, "deployed");
  assert.equal(await inKubeSystem("written-test"), false);
});

test("a release whose record got a hook while the agent was away is upgraded, and the hook does not run", async () => {
  const { deployment } = await assign({ name: "away", chart: first, url });
  await agent.report(isDeployed("away", "0.1.0"));
  await agent.stop();
  await edit("away", 1, withHook("parting"));
  agent = await startInstaller(spec);
  await agent.report((state) => state.name === "away" && state.release?.revision === 2);
  await agent.intake.withdraw(deployment);
  await agent.withdrawn("away");

  assert.equal(await inKubeSystem("parting"), false);
});

test("a withdrawal deletes no object that was written into a record, and reports it", async () => {
  const { deployment } = await assign({ name: "extended", chart: first, url });
  await agent.report(isDeployed("extended", "0.1.0"));
  await createTarget("extended-target");
  await edit("extended", 1, withObject("extended-target"));
  await agent.intake.withdraw(deployment);

  const stopped = await agent.report(({ name, message }) => name === "extended" && message !== "");

  assert.match(
    stopped.message,
    /release extended\/extended is not uninstalled: revision 1, .*ConfigMap kube-system\/extended-target/,
  );
  assert.equal(await inKubeSystem("extended-target"), true);
});

test("a manifest of somebody else stops an upgrade until it is forced, and deletes nothing", async () => {
  await assign({ name: "stopped", chart: first, url });
  await agent.report(isDeployed("stopped", "0.1.0"));
  await createTarget("stopped-target");
  const record = await recordOf("stopped", 1);
  const { labels = {} } = record.metadata;
  await client.create(secrets, {
    metadata: {
      namespace: "stopped",
      name: "sh.helm.release.v1.stopped.v2",
      labels: { ...labels, version: "2" },
    },
    type: record.type ?? "",
    data:
      edited(record, (release) => ({ ...withObject("stopped-target")(release), version: 2 })) ?? {},
  });

  const stopped = await agent.report(hasCode("stopped", "RELEASE_NOT_OURS"));
  assert.match(stopped.message, /ConfigMap kube-system\/stopped-target; no service account/);
  assert.equal(await inKubeSystem("stopped-target"), true);
  const request = await assign({ name: "stopped", chart: second, url });
  assert.equal((await installedConfig(client, "stopped"))?.data?.["version"], "0.1.0");

  await restart();
  await force(request, 1);
  await agent.report(isDeployed("stopped", "0.2.0"));
});

test("nothing is rolled back to a record of somebody else", async () => {
  const serviceAccount = "roller";
  await createAdmin(client, serviceAccount);
  const deployment = {
    name: "rolled",
    url,
    serviceAccount,
    helm: { atomic: true, timeoutSeconds: 30 },
  };
  await assign({ ...deployment, chart: first });
  await agent.report(isDeployed("rolled", "0.1.0"));
  await edit("rolled", 1, withObject("rolled-target"));

  await assign({ ...deployment, chart: rejected });
  const failed = await agent.report(hasCode("rolled", "HELM_FAILED"));

  assert.match(
    failed.message,
    /it was not rolled back, although atomic is set, because this agent did not create/,
  );
  assert.equal(await inKubeSystem("rolled-target"), false);
});

test("a withdrawal uninstalls a release whose assignment was lost", async () => {
  const { deployment } = await assign({ name: "lost", chart: first, url });
  await agent.report(isDeployed("lost", "0.1.0"));
  await agent.stop();
  await client.delete(secrets, { namespace: agentNamespace, name: "assignment-lost" });
  agent = await startInstaller(spec);
  assert.ok(!agent.intake.inventory().some(({ name }) => name === "lost"));

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("lost");

  assert.deepEqual(await releaseHistory(client, "lost"), []);
  assert.equal(await installedConfig(client, "lost"), undefined);
});

test("releases of an agent without an inventory are taken over once, without a run of Helm", async () => {
  const { deployment } = await assign({ name: "older", chart: first, url });
  await agent.report(isDeployed("older", "0.1.0"));
  await agent.stop();
  await deleteSecrets("inventory");

  for (const _start of ["first", "second"]) {
    agent = await startInstaller(spec);
    await agent.report(isDeployed("older", "0.1.0"));
    assert.deepEqual(
      agent.reports.filter(({ name, phase }) => name === "older" && phase === "failed"),
      [],
    );
    assert.deepEqual(runsOf("older"), []);
    await agent.stop();
  }
  agent = await startInstaller(spec);
  await agent.intake.withdraw(deployment);
  await agent.withdrawn("older");
  assert.ok(runsOf("older").every((args) => !args.includes("--no-hooks")));
});

test("an agent that has lost everything takes over what is assigned again, and reports what is withdrawn", async () => {
  const request = await assign({ name: "again", chart: first, url });
  const { deployment, deploymentId, content } = await assign({ name: "gone", chart: first, url });
  assert.ok(content !== undefined);
  await agent.report(isDeployed("again", "0.1.0"));
  await agent.report(isDeployed("gone", "0.1.0"));
  await agent.stop();
  await deleteSecrets("");
  agent = await startInstaller(spec);

  await agent.intake.assign(request);
  await agent.report(isDeployed("again", "0.1.0"));
  await agent.intake.withdraw(deployment, { lost: { deploymentId, content } });
  const reported = await agent.report(({ name, message }) => name === "gone" && message !== "");

  assert.deepEqual(agent.helmRuns, []);
  assert.match(reported.message, /release gone\/gone is not uninstalled: revision 1, /);
  await client.delete(secrets, { namespace: "gone", name: "sh.helm.release.v1.gone.v1" });
});

test("a record that names a deployment whose first release failed is not taken over", async () => {
  await agent.stop();
  await deleteSecrets("");
  agent = await startInstaller(spec);
  const failing = { name: "early", chart: rejected, url, helm: { atomic: true } };
  const { deployment } = await assign(failing);
  await agent.report(({ name, phase }) => name === "early" && phase === "failed");
  await assign({ name: "sample", chart: first, url });
  await agent.report(isDeployed("sample", "0.1.0"));
  const record = await recordOf("sample", 1);
  await client.create(secrets, {
    metadata: {
      namespace: "early",
      name: "sh.helm.release.v1.early.v1",
      labels: {
        ...record.metadata.labels,
        name: "early",
        "flotilla.dev/deployment": deployment.name,
        "flotilla.dev/uid": deployment.uid,
      },
    },
    type: record.type ?? "",
    data:
      edited(record, (release) => ({
        ...withHook("planted")(release),
        name: "early",
        namespace: "early",
      })) ?? {},
  });
  await restart();
  await agent.report(hasCode("early", "RELEASE_NOT_OURS"));

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("early");

  assert.equal(await inKubeSystem("planted"), false);
  assert.deepEqual(await releaseHistory(client, "early"), ["1 deployed"]);
});

test("a lock of another Helm client is waited for, then reported, and unlocked on request", async () => {
  const clock = createFakeClock();
  await restart({ clock });
  onTestFinished(() => restart());
  const request = await assign({ name: "locked", chart: first, url });
  await agent.report(isDeployed("locked", "0.1.0"));
  const record = await recordOf("locked", 1);
  const { "flotilla.dev/revision": _, ...labels } = record.metadata.labels ?? {};
  await client.create(secrets, {
    metadata: {
      namespace: "locked",
      name: "sh.helm.release.v1.locked.v2",
      labels: { ...labels, version: "2", status: "pending-upgrade" },
    },
    type: record.type ?? "",
    data:
      edited(record, (release) => ({
        ...release,
        version: 2,
        info: { ...(release["info"] as Release), status: "pending-upgrade" },
      })) ?? {},
  });
  const pending = await agent.report(
    ({ name, message }) => name === "locked" && /another Helm/.test(message),
  );
  assert.equal(pending.code, undefined);

  await clock.advance(5 * 60_000);
  const reported = await agent.report(hasCode("locked", "RELEASE_LOCKED"));
  assert.match(
    reported.message,
    /release locked\/locked is locked by another Helm client: revision 2 is pending-upgrade since \S+, and has not changed for 300 s/,
  );
  assert.equal(runsOf("locked").length, 1);

  await force(request, 1);
  await agent.report((state) => state.name === "locked" && state.release?.revision === 3);
});
