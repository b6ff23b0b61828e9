/**
 * Records and labels that a tenant of the cluster writes, on a real control plane and with the real Helm. The deployments act
 * as the agent itself unless a test says otherwise, so Helm could change anything.
 */
import assert from "node:assert/strict";
import { configMaps, namespaces, secrets } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { onTestFinished, test } from "vitest";
import { chartArchive, configChart } from "../harness/chart-archive.ts";
import { configMapText, rejectedText } from "../harness/object-text.ts";
import { createAdmin } from "../harness/rbac.ts";
import { installedConfig, releaseHistory, waitForRevision } from "../harness/releases.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { hasCode, isDeployed, runsOf } from "./agent-reports.ts";
import {
  assign,
  edit,
  edited,
  force,
  isInKubeSystem,
  type Release,
  recordOf,
  rejectedChart,
  withHook,
  withObject,
} from "./release-records.ts";
import { startRestartableAgent } from "./restartable-agent.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const first = await configChart("settings", "0.1.0");
const second = await configChart("settings", "0.2.0");
const hooked = await chartArchive({
  name: "hooked",
  version: "0.1.0",
  templates: {
    "config.yaml": configMapText("{{ .Release.Name }}-config"),
    "hook.yaml": configMapText("{{ .Release.Name }}-farewell", { hook: "pre-delete" }),
    "fail.yaml":
      "{{ if .Values.fail }}apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n{{ end }}",
  },
});
const rejected = await rejectedChart("settings", "0.3.0");
/** Its test is always rejected by the API server. */
const failing = await chartArchive({
  name: "failing",
  version: "0.1.0",
  templates: {
    "config.yaml": configMapText("{{ .Release.Name }}-config"),
    "test.yaml": rejectedText("test"),
  },
});
charts.publish(first, second, hooked, rejected, failing);
const tenant = "tenant";
await client.create(namespaces, { metadata: { name: tenant } });

const agent = await startRestartableAgent(spec);

async function createTarget(name: string): Promise<void> {
  await client.create(configMaps, { metadata: { namespace: "kube-system", name } });
}

test("a copy of a release record in a tenant's namespace is not uninstalled, and its hook does not run", async () => {
  const victim = await assign(agent, { name: "victim", chart: first, url });
  await agent.report(isDeployed("victim", "0.1.0"));
  const record = await recordOf(client, "victim", 1);
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

  await assign(agent, { name: "victim", chart: second, url });
  await agent.report(isDeployed("victim", "0.2.0"));
  await agent.intake.withdraw(victim.deployment);
  await agent.withdrawn("victim");

  assert.deepEqual(await releaseHistory(client, tenant), ["1 deployed"]);
  assert.equal(await isInKubeSystem(client, "grant"), false);
  assert.deepEqual(runsOf(agent, "forged"), []);
});

test("a ConfigMap with the label of a downstream resource is not deleted, and stops nothing", async () => {
  const labels = { "fleet.cattle.io/bundledeployment": "labelled" };
  await client.create(configMaps, { metadata: { namespace: tenant, name: "labelled", labels } });
  const { deployment } = await assign(agent, { name: "labelled", chart: first, url });
  await agent.report(isDeployed("labelled", "0.1.0"));

  await assign(agent, { name: "labelled", chart: second, url });
  await agent.report(isDeployed("labelled", "0.2.0"));
  await agent.intake.withdraw(deployment);
  await agent.withdrawn("labelled");

  const found = await client.reader.get(configMaps, { namespace: tenant, name: "labelled" });
  assert.ok(found !== undefined);
});

test("the hooks of a chart run when its release is uninstalled", async () => {
  const { deployment } = await assign(agent, { name: "hooked", chart: hooked, url });
  await agent.report(isDeployed("hooked", "0.1.0"));

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("hooked");

  const ref = { namespace: "hooked", name: "hooked-farewell" };
  assert.ok((await client.reader.get(configMaps, ref)) !== undefined);
});

test("a hook that was written into a record does not run", async () => {
  const { deployment } = await assign(agent, { name: "changed", chart: first, url });
  await agent.report(isDeployed("changed", "0.1.0"));
  await agent.restart();
  await edit(client, "changed", 1, withHook("farewell"));
  await agent.intake.withdraw(deployment);
  await agent.withdrawn("changed");

  assert.equal(await isInKubeSystem(client, "farewell"), false);
  assert.equal(await installedConfig(client, "changed"), undefined);
});

test("a test that was written into a record does not run, also when the tests are repeated", async () => {
  const chart = failing;
  await assign(agent, { name: "tested", chart, url, actions: { test: { enable: true } } });
  await agent.report(hasCode("tested", "HELM_FAILED"));
  assert.equal(runsOf(agent, "tested").filter(([command]) => command === "test").length, 1);

  await edit(client, "tested", 1, withHook("written-test", "test"));

  // The record is not the agent's any more, so the release is upgraded before it is tested again.
  await waitForRevision(client, "tested", 2, "deployed");
  assert.equal(await isInKubeSystem(client, "written-test"), false);
});

test("a release whose record got a hook while the agent was away is upgraded, and the hook does not run", async () => {
  const { deployment } = await assign(agent, { name: "away", chart: first, url });
  await agent.report(isDeployed("away", "0.1.0"));
  await agent.stop();
  await edit(client, "away", 1, withHook("parting"));
  await agent.start();
  await agent.report((state) => state.name === "away" && state.release?.revision === 2);
  await agent.intake.withdraw(deployment);
  await agent.withdrawn("away");

  assert.equal(await isInKubeSystem(client, "parting"), false);
});

test("a withdrawal deletes no object that was written into a record, and reports it", async () => {
  const { deployment } = await assign(agent, { name: "extended", chart: first, url });
  await agent.report(isDeployed("extended", "0.1.0"));
  await createTarget("extended-target");
  await edit(client, "extended", 1, withObject("extended-target"));
  await agent.intake.withdraw(deployment);

  const stopped = await agent.report(({ name, message }) => name === "extended" && message !== "");

  assert.match(
    stopped.message,
    /release extended\/extended is not uninstalled: revision 1, .*ConfigMap kube-system\/extended-target/,
  );
  assert.equal(await isInKubeSystem(client, "extended-target"), true);
});

test("a manifest of somebody else stops an upgrade until it is forced, and deletes nothing", async () => {
  await assign(agent, { name: "stopped", chart: first, url });
  await agent.report(isDeployed("stopped", "0.1.0"));
  await createTarget("stopped-target");
  const record = await recordOf(client, "stopped", 1);
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
  assert.equal(await isInKubeSystem(client, "stopped-target"), true);
  const request = await assign(agent, { name: "stopped", chart: second, url });
  assert.equal((await installedConfig(client, "stopped"))?.data?.["version"], "0.1.0");

  await agent.restart();
  await force(agent, request, 1);
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
  await assign(agent, { ...deployment, chart: first });
  await agent.report(isDeployed("rolled", "0.1.0"));
  await edit(client, "rolled", 1, withObject("rolled-target"));

  await assign(agent, { ...deployment, chart: rejected });
  const failed = await agent.report(hasCode("rolled", "HELM_FAILED"));

  assert.match(
    failed.message,
    /it was not rolled back, although atomic is set, because this agent did not create/,
  );
  assert.equal(await isInKubeSystem(client, "rolled-target"), false);
});

test("a lock of another Helm client is waited for, then reported, and unlocked on request", async () => {
  const clock = createFakeClock();
  await agent.restart({ clock });
  onTestFinished(() => agent.restart());
  const request = await assign(agent, { name: "locked", chart: first, url });
  await agent.report(isDeployed("locked", "0.1.0"));
  const record = await recordOf(client, "locked", 1);
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
    /release locked\/locked is locked by another Helm client: revision 2 is pending-upgrade since \S+, and has not changed for 5m/,
  );
  assert.equal(runsOf(agent, "locked").length, 1);

  await force(agent, request, 1);
  await agent.report((state) => state.name === "locked" && state.release?.revision === 3);
});
