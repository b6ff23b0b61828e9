/** The agent with assignments, on a real control plane and with the real Helm, without a hub. */

import assert from "node:assert/strict";
import { configMaps } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { onTestFinished, test } from "vitest";
import { chartArchive, configChart, deploymentChart } from "../harness/chart-archive.ts";
import { releaseHistory, waitForRevision } from "../harness/releases.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { isReady, runsOf } from "./agent-reports.ts";
import { assignmentOf } from "./assignment.ts";
import { startRestartableAgent } from "./restartable-agent.ts";
import { stallingChart } from "./test-charts.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const first = await configChart("settings", "0.1.0");
const second = await configChart("settings", "0.2.0");
const workload = await deploymentChart("workload", "0.1.0");
const stalling = await stallingChart("stalling", "0.1.0");
charts.publish(first, second, workload, stalling);

const agent = await startRestartableAgent({ ...spec, supersededGraceMs: 1_000 });

async function versionOf(name: string): Promise<string | undefined> {
  return (await client.reader.get(configMaps, { namespace: name, name: `${name}-config` }))?.data?.[
    "version"
  ];
}

async function greetingOf(name: string): Promise<string | undefined> {
  const config = await client.reader.get(configMaps, { namespace: name, name: `${name}-config` });
  return config?.data?.["greeting"];
}

test("a chart is installed with one run of Helm, and upgraded with one more", async () => {
  await agent.intake.assign(await assignmentOf({ name: "plain", chart: first, url }));
  const installed = await agent.report(isReady("plain", 1));
  assert.equal(installed.release?.chartVersion, "0.1.0");
  assert.equal(installed.chartDigest, `sha256:${first.digest}`);
  assert.equal(await versionOf("plain"), "0.1.0");

  await agent.intake.assign(await assignmentOf({ name: "plain", chart: second, url }));
  await agent.report(isReady("plain", 2));
  assert.equal(await versionOf("plain"), "0.2.0");
  assert.equal(runsOf(agent, "plain").length, 2);
});

test("a repeated assignment runs nothing", async () => {
  const assignment = await assignmentOf({ name: "again", chart: first, url });
  await agent.intake.assign(assignment);
  await agent.report(isReady("again", 1));

  await agent.intake.assign(assignment);
  // Another content that is the same input for Helm.
  await agent.intake.assign(
    await assignmentOf({ name: "again", chart: first, url, helm: { maxHistory: 5 } }),
  );
  await agent.report(
    (state) => state.name === "again" && state.deploymentId !== assignment.deploymentId,
  );

  assert.equal(runsOf(agent, "again").length, 1);
  assert.deepEqual(await releaseHistory(client, "again"), ["1 deployed"]);
});

test("a workload is ready when its pods are, not when Helm returns", async () => {
  await agent.intake.assign(await assignmentOf({ name: "work", chart: workload, url }));
  const state = await agent.report(isReady("work", 1));

  assert.deepEqual(state.counts, {
    desiredReady: 1,
    ready: 1,
    notReady: 0,
    missing: 0,
    unknown: 0,
  });
});

test("a content that Helm rejects is reported with the message of Helm, and the release stays", async () => {
  const broken = await chartArchive({
    name: "broken",
    version: "0.1.0",
    templates: { "config.yaml": '{{ fail "greeting must be polite" }}\n' },
  });
  charts.publish(broken);
  await agent.intake.assign(await assignmentOf({ name: "rejected", chart: first, url }));
  await agent.report(isReady("rejected", 1));

  await agent.intake.assign(await assignmentOf({ name: "rejected", chart: broken, url }));
  const failed = await agent.report(({ name, phase }) => name === "rejected" && phase === "failed");
  assert.match(failed.message, /greeting must be polite/);
  assert.notEqual(failed.retryAt, undefined);
  assert.equal(await versionOf("rejected"), "0.1.0");

  // New content does not wait for the retry of the old one.
  await agent.intake.assign(await assignmentOf({ name: "rejected", chart: second, url }));
  await agent.report(
    ({ name, phase, release }) =>
      name === "rejected" && phase === "deployed" && release?.chartVersion === "0.2.0",
  );
});

test("a release of another deployment is rejected with the name of that deployment", async () => {
  await agent.intake.assign(await assignmentOf({ name: "owner", chart: first, url }));
  await agent.report(isReady("owner", 1));

  await agent.intake.assign(
    await assignmentOf({
      name: "latecomer",
      chart: second,
      url,
      namespace: "owner",
      release: "owner",
    }),
  );
  const failed = await agent.report(
    ({ name, phase }) => name === "latecomer" && phase === "failed",
  );
  assert.match(failed.message, /owner/);
  assert.deepEqual(await releaseHistory(client, "owner"), ["1 deployed"]);
});

test("a release that is moved is uninstalled at its former place", async () => {
  await agent.intake.assign(await assignmentOf({ name: "moved", chart: first, url }));
  await agent.report(isReady("moved", 1));

  await agent.intake.assign(
    await assignmentOf({ name: "moved", chart: first, url, namespace: "moved-on" }),
  );
  await agent.report((state) => state.name === "moved" && state.release?.namespace === "moved-on");
  assert.deepEqual(await releaseHistory(client, "moved"), []);
  assert.deepEqual(await releaseHistory(client, "moved-on"), ["1 deployed"]);
});

test("a rejected release is installed at once when the deployment that has it is moved", async () => {
  // A clock that does not advance, so that the retry is never due.
  await agent.restart({ clock: createFakeClock() });
  onTestFinished(() => agent.restart());
  await agent.intake.assign(await assignmentOf({ name: "mover", chart: first, url }));
  await agent.report(isReady("mover", 1));
  const release = { chart: first, url, namespace: "mover", release: "mover" };
  await agent.intake.assign(await assignmentOf({ name: "follower", ...release }));
  const rejected = await agent.report(
    ({ name, code }) => name === "follower" && code === "RELEASE_CONFLICT",
  );

  await agent.intake.assign(
    await assignmentOf({ name: "mover", chart: first, url, namespace: "mover-new" }),
  );
  await agent.report(({ name, phase }) => name === "follower" && phase === "deployed");

  assert.ok(rejected.retryAt !== undefined);
});

test("a withdrawn deployment is uninstalled and forgotten, and a repeated withdrawal does nothing", async () => {
  const { deployment, ...rest2 } = await assignmentOf({ name: "leaving", chart: first, url });
  await agent.intake.assign({ deployment, ...rest2 });
  await agent.report(isReady("leaving", 1));

  await agent.intake.withdraw(deployment);
  await agent.withdrawn("leaving");
  assert.equal(await versionOf("leaving"), undefined);
  assert.deepEqual(await releaseHistory(client, "leaving"), []);
  assert.ok(!agent.intake.deployments().some(({ name }) => name === "leaving"));

  await agent.intake.withdraw(deployment);
});

test("with keepResources only the records of Helm are deleted", async () => {
  const assignment = await assignmentOf({ name: "kept", chart: first, url, keepResources: true });
  await agent.intake.assign(assignment);
  await agent.report(isReady("kept", 1));

  await agent.intake.withdraw(assignment.deployment);
  await agent.withdrawn("kept");
  assert.equal(await versionOf("kept"), "0.1.0");
  assert.deepEqual(await releaseHistory(client, "kept"), []);
});

test("a run of Helm that does not wait is completed, also when another content is assigned", async () => {
  const [one, two] = [{ greeting: "one" }, { greeting: "two" }];
  await agent.intake.assign(await assignmentOf({ name: "quick", chart: first, url, values: one }));
  await waitForRevision(client, "quick", 1);

  await agent.intake.assign(await assignmentOf({ name: "quick", chart: first, url, values: two }));
  await agent.report(isReady("quick", 2));

  assert.deepEqual(await releaseHistory(client, "quick"), ["1 superseded", "2 deployed"]);
});

for (const [name, what, helm, stall] of [
  ["atomic", "waits and would roll back", { timeoutSeconds: 600, atomic: true }, { node: true }],
  ["hooked", "runs a hook that never ends", {}, { hook: true }],
] as const) {
  test(`a run of Helm that ${what} is ended when another content is assigned`, async () => {
    await agent.intake.assign(await assignmentOf({ name, chart: stalling, url }));
    await agent.report(isReady(name, 1));
    await agent.intake.assign(
      await assignmentOf({ name, chart: stalling, url, helm, values: stall }),
    );
    await waitForRevision(client, name, 2, "pending-upgrade");

    const values = { greeting: "newest" };
    const newest = await assignmentOf({ name, chart: stalling, url, helm, values });
    await agent.intake.assign(newest);

    await agent.report(({ deploymentId, ready }) => deploymentId === newest.deploymentId && ready);
    assert.equal(await greetingOf(name), "newest");
    assert.ok(!(await releaseHistory(client, name)).some((record) => record.includes("pending")));
    assert.equal(runsOf(agent, name).length, 3);
    assert.ok(!agent.reports.some((state) => state.name === name && state.phase === "failed"));
  });
}

test("a release that is not ready yet is upgraded at once when another content is assigned", async () => {
  const helm = { timeoutSeconds: 600 };
  const of = (values: Readonly<Record<string, unknown>>) =>
    assignmentOf({ name: "waiting", chart: stalling, url, helm, values });
  await agent.intake.assign(await of({ node: true }));
  const progressing = await agent.report(
    (state) => state.name === "waiting" && state.phase === "deployed",
  );
  assert.equal(progressing.ready, false);

  const newest = await of({ greeting: "newest" });
  await agent.intake.assign(newest);

  await agent.report(({ deploymentId, ready }) => deploymentId === newest.deploymentId && ready);
  assert.deepEqual(await releaseHistory(client, "waiting"), ["1 superseded", "2 deployed"]);
});

test("a rollback that never ends is stopped when another content is assigned", async () => {
  await agent.restart({ graceMs: 5_000 });
  const helm = { timeoutSeconds: 600, atomic: true };
  const of = (values: Readonly<Record<string, unknown>>, own: Partial<typeof helm> = helm) =>
    assignmentOf({ name: "nowhere", chart: stalling, url, helm: own, values });
  await agent.intake.assign(await of({ node: true }, {}));
  await waitForRevision(client, "nowhere", 1, "deployed");
  await agent.intake.assign(await of({ node: true, greeting: "second" }));
  await waitForRevision(client, "nowhere", 2, "pending-upgrade");

  const newest = await of({ greeting: "newest" });
  await agent.intake.assign(newest);

  await agent.report(({ deploymentId, ready }) => deploymentId === newest.deploymentId && ready);
  assert.equal(await greetingOf("nowhere"), "newest");
  // The third is the rollback.
  assert.ok((await releaseHistory(client, "nowhere")).includes("4 deployed"));
  assert.equal(runsOf(agent, "nowhere").length, 3);
});

test("an agent that restarts finds its releases and runs nothing", async () => {
  const pin = { kind: "tarball", url: `${url}/settings-0.1.0.tgz` } as const;
  await agent.intake.assign(await assignmentOf({ name: "lasting", chart: first, url }));
  await agent.intake.assign(await assignmentOf({ name: "undigested", chart: first, url, pin }));
  await agent.report(isReady("lasting", 1));
  await agent.report(isReady("undigested", 1));

  await agent.restart();

  for (const name of ["lasting", "undigested"]) {
    const found = await agent.report(isReady(name, 1));
    assert.equal(found.chartDigest, `sha256:${first.digest}`);
    assert.equal(runsOf(agent, name).length, 0);
    assert.ok(agent.intake.deployments().some((holding) => holding.name === name));
  }
});
