/** What the agent does with an assignment, on a real control plane and with the real Helm. No hub. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ensureBinaries } from "@flotilla/local/binaries/ensure-binaries.ts";
import { controlPlaneTools } from "@flotilla/local/control-plane/control-plane.ts";
import { startControlPlane } from "@flotilla/local/control-plane/start-control-plane.ts";
import type { DeploymentState } from "@flotilla/proto/messages.ts";
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { connectKube } from "@flotilla/shared/kube/connect.ts";
import { configMaps, namespaces, secrets } from "@flotilla/shared/kube/core-resources.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/kubeconfig.ts";
import { chartArchive, configChart, deploymentChart } from "../testing/chart-archive.ts";
import { startChartServer } from "../testing/chart-server.ts";
import { type AgentParts, startAgentParts } from "./agent-parts.ts";
import { deploymentOf } from "./deployment-of.ts";

const dir = await mkdtemp(join(tmpdir(), "flotilla-agent-"));
after(() => rm(dir, { recursive: true, force: true }));
const binaries = await ensureBinaries([...controlPlaneTools, "helm"]);
const plane = await startControlPlane({
  name: "agent",
  dir: join(dir, "cluster"),
  binaries,
  workloads: true,
});
after(() => plane.stop());
const rest = connectKube(await loadKubeconfig({ path: plane.kubeconfig }));
after(() => rest.close());
await rest.create(namespaces, { metadata: { name: agentNamespace } });
const charts = await startChartServer();
after(() => charts.close());
const { url } = charts;
const first = await configChart("settings", "0.1.0");
const second = await configChart("settings", "0.2.0");
const workload = await deploymentChart("workload", "0.1.0");
charts.publish(first, second, workload);

const spec = { kubeconfig: plane.kubeconfig, helm: binaries.helm, dataDir: join(dir, "data") };
let agent: AgentParts = await startAgentParts(spec);
after(() => agent.stop());

function isReady(name: string, revision: number): (state: DeploymentState) => boolean {
  return (state) => state.name === name && state.ready && state.release?.revision === revision;
}

async function versionOf(name: string): Promise<string | undefined> {
  return (await rest.get(configMaps, { namespace: name, name: `${name}-config` }))?.data?.[
    "version"
  ];
}

function runsFor(name: string): number {
  return agent.helmRuns.filter((args) => args.includes(name)).length;
}

async function revisions(name: string): Promise<readonly string[]> {
  const { items } = await rest.list(secrets, { namespace: name, labelSelector: "owner=helm" });
  return items.map(({ metadata }) => metadata.labels?.["version"] ?? "").sort();
}

test("a chart is installed with one run of Helm, and upgraded with one more", async () => {
  await agent.intake.assign(await deploymentOf({ name: "plain", chart: first, url }));
  const installed = await agent.report(isReady("plain", 1));
  assert.equal(installed.release?.chartVersion, "0.1.0");
  assert.equal(installed.chartDigest, `sha256:${first.digest}`);
  assert.equal(await versionOf("plain"), "0.1.0");

  await agent.intake.assign(await deploymentOf({ name: "plain", chart: second, url }));
  await agent.report(isReady("plain", 2));
  assert.equal(await versionOf("plain"), "0.2.0");
  assert.equal(runsFor("plain"), 2);
});

test("an assignment that comes once more runs nothing", async () => {
  const wanted = await deploymentOf({ name: "again", chart: first, url });
  await agent.intake.assign(wanted);
  await agent.report(isReady("again", 1));

  await agent.intake.assign(wanted);
  // Another content whose difference does not reach the chart.
  await agent.intake.assign(
    await deploymentOf({ name: "again", chart: first, url, helm: { maxHistory: 5 } }),
  );
  await agent.report(
    (state) => state.name === "again" && state.deploymentId !== wanted.deploymentId,
  );

  assert.equal(runsFor("again"), 1);
  assert.deepEqual(await revisions("again"), ["1"]);
});

test("values reach the chart, and not the arguments", async () => {
  const greeting = "not for the process list";
  await agent.intake.assign(
    await deploymentOf({ name: "values", chart: first, url, values: { greeting } }),
  );
  await agent.report(isReady("values", 1));

  const config = await rest.get(configMaps, { namespace: "values", name: "values-config" });
  assert.equal(config?.data?.["greeting"], greeting);
  assert.ok(!agent.helmRuns.flat().some((argument) => argument.includes(greeting)));
});

test("a workload is ready when its pods are, not when Helm returns", async () => {
  await agent.intake.assign(await deploymentOf({ name: "work", chart: workload, url }));
  const state = await agent.report(isReady("work", 1));

  assert.deepEqual(state.counts, {
    desiredReady: 1,
    ready: 1,
    notReady: 0,
    missing: 0,
    unknown: 0,
  });
});

test("what Helm refuses is reported in its words, and what was installed stays", async () => {
  const broken = await chartArchive({
    name: "broken",
    version: "0.1.0",
    templates: { "config.yaml": '{{ fail "greeting must be polite" }}\n' },
  });
  charts.publish(broken);
  await agent.intake.assign(await deploymentOf({ name: "refused", chart: first, url }));
  await agent.report(isReady("refused", 1));

  await agent.intake.assign(await deploymentOf({ name: "refused", chart: broken, url }));
  const failed = await agent.report(({ name, phase }) => name === "refused" && phase === "failed");
  assert.match(failed.message, /greeting must be polite/);
  assert.notEqual(failed.retryAt, undefined);
  assert.equal(await versionOf("refused"), "0.1.0");

  // New content does not wait for the next try of the old one.
  await agent.intake.assign(await deploymentOf({ name: "refused", chart: second, url }));
  await agent.report(
    ({ name, phase, release }) =>
      name === "refused" && phase === "deployed" && release?.chartVersion === "0.2.0",
  );
});

test("a release that another deployment has is refused by that one's name", async () => {
  await agent.intake.assign(await deploymentOf({ name: "holder", chart: first, url }));
  await agent.report(isReady("holder", 1));

  await agent.intake.assign(
    await deploymentOf({
      name: "latecomer",
      chart: second,
      url,
      namespace: "holder",
      release: "holder",
    }),
  );
  const failed = await agent.report(
    ({ name, phase }) => name === "latecomer" && phase === "failed",
  );
  assert.match(failed.message, /holder/);
  assert.deepEqual(await revisions("holder"), ["1"]);
});

test("a release that is moved is uninstalled where it was", async () => {
  await agent.intake.assign(await deploymentOf({ name: "moved", chart: first, url }));
  await agent.report(isReady("moved", 1));

  await agent.intake.assign(
    await deploymentOf({ name: "moved", chart: first, url, namespace: "moved-on" }),
  );
  await agent.report((state) => state.name === "moved" && state.release?.namespace === "moved-on");
  assert.deepEqual(await revisions("moved"), []);
  assert.deepEqual(await revisions("moved-on"), ["1"]);
});

test("what is withdrawn is uninstalled and forgotten, and a second time nothing is left to do", async () => {
  const { deployment, ...rest2 } = await deploymentOf({ name: "leaving", chart: first, url });
  await agent.intake.assign({ deployment, ...rest2 });
  await agent.report(isReady("leaving", 1));

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("leaving");
  assert.equal(await versionOf("leaving"), undefined);
  assert.deepEqual(await revisions("leaving"), []);
  assert.ok(!agent.intake.holdings().some(({ name }) => name === "leaving"));

  await agent.intake.withdraw(deployment);
});

test("with keepResources only Helm's records go", async () => {
  const wanted = await deploymentOf({ name: "kept", chart: first, url, keepResources: true });
  await agent.intake.assign(wanted);
  await agent.report(isReady("kept", 1));

  await agent.intake.withdraw(wanted.deployment);
  await agent.withdrawn("kept");
  assert.equal(await versionOf("kept"), "0.1.0");
  assert.deepEqual(await revisions("kept"), []);
});

test("an agent that starts anew finds what is installed and runs nothing", async () => {
  await agent.intake.assign(await deploymentOf({ name: "lasting", chart: first, url }));
  await agent.report(isReady("lasting", 1));
  await agent.stop();

  agent = await startAgentParts(spec);

  await agent.report(isReady("lasting", 1));
  assert.equal(runsFor("lasting"), 0);
  assert.ok(agent.intake.holdings().some(({ name }) => name === "lasting"));
});
