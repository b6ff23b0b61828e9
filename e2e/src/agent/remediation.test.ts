/** What follows failures: retries, rollback, uninstall, tests and waiting, with the real Helm on a real control plane. */
import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import type { DeploymentContent } from "@flotilla/shared/content";
import { configMaps, type KubeObject, type Resource, secrets } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { configMapText, rejectedText } from "../harness/object-text.ts";
import { installedConfig, releaseHistory, waitForRevision } from "../harness/releases.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";
import { startRestartableAgent } from "./restartable-agent.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const agent = await startRestartableAgent(spec);

type Actions = NonNullable<DeploymentContent["actions"]>;

const nodes: Resource<KubeObject> = {
  ...{ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false },
};

function chart(version: string, templates: Readonly<Record<string, string>> = {}) {
  const own = configMapText("{{ .Release.Name }}-config", {
    data: `{version: "${version}"}`,
  });
  return chartArchive({ name: "app", version, templates: { "config.yaml": own, ...templates } });
}

/** Its pod is scheduled on nodes with this label. */
function podChart(version: string, label: string): Promise<ChartArchive> {
  return chart(version, {
    "pod.yaml": `apiVersion: v1
kind: Pod
metadata: {name: stuck}
spec:
  nodeSelector: {${label}}
  containers: [{name: main, image: example.com/main}]
`,
  });
}

function jobChart(version: string, nodeSelector: string): Promise<ChartArchive> {
  return chart(version, {
    "job.yaml": `apiVersion: batch/v1
kind: Job
metadata: {name: worker}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: ${nodeSelector}
      containers: [{name: main, image: example.com/main}]
`,
  });
}

const good = await chart("1.0.0");
const better = await chart("1.1.0");
/** The API server rejects an object of it, after it has changed others. */
const bad = await chart("2.0.0", { "rejected.yaml": rejectedText() });
/** Its pod is never scheduled. */
const stuck = await podChart("3.0.0", "no: node");
/** Until a node has this label. */
const late = await podChart("3.1.0", "late: healed");
/** A Job, whose pod completes only where it can run. */
const [working, idling] = [await jobChart("3.2.0", "{}"), await jobChart("3.3.0", "{no: node}")];
const passing = await chart("4.0.0", {
  "tests.yaml": ["smoke", "load"]
    .map((name) => configMapText(name, { hook: "test" }))
    .join("---\n"),
});
const failing = await chart("5.0.0", {
  "smoke.yaml": configMapText("smoke", { hook: "test" }),
  "test.yaml": rejectedText("test"),
});
const renamed = await chartArchive({
  name: "other",
  version: "1.5.0",
  templates: {
    "config.yaml": configMapText("{{ .Release.Name }}-config", { data: '{version: "other"}' }),
  },
});
charts.publish(good, better, bad, stuck, late, working, idling, passing, failing, renamed);

async function assign(
  name: string,
  chart: ChartArchive,
  actions: Actions,
  request?: DeploymentSpec["request"],
): Promise<void> {
  const more = request === undefined ? {} : { request };
  await agent.intake.assign(await assignmentOf({ name, chart, url, actions, ...more }));
}

function deployed(name: string, { version }: ChartArchive): Promise<DeploymentState> {
  return agent.report(
    (state) =>
      state.name === name &&
      state.phase === "deployed" &&
      state.ready &&
      state.release?.chartVersion === version,
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

async function versionIn(name: string): Promise<string | undefined> {
  return (await installedConfig(client, name))?.data?.["version"];
}

test("a failed upgrade without retries stays, and says that nothing is tried any more", async () => {
  const actions = { upgrade: { remediation: {} } };
  await assign("stays", good, actions);
  await deployed("stays", good);
  await assign("stays", bad, actions);

  const { message, retryAt } = await failed("stays", "RETRIES_EXCEEDED");

  assert.match(
    message,
    /^the upgrade failed, and no retries are left: helm upgrade --install .*rejected/,
  );
  assert.ok(retryAt !== undefined && Date.parse(retryAt) - Date.now() > 50 * 60_000);
  assert.deepEqual(await releaseHistory(client, "stays"), ["1 deployed", "2 failed"]);
});

test("a failed upgrade is rolled back, and another content is tried", async () => {
  const actions = { upgrade: { remediation: { remediateLastFailure: true } } };
  await assign("back", good, actions);
  await deployed("back", good);
  await assign("back", bad, actions);

  const { message } = await failed("back", "RETRIES_EXCEEDED");

  assert.match(message, /; it was rolled back; retrying at /);
  assert.equal(await versionIn("back"), "1.0.0");
  assert.deepEqual(await releaseHistory(client, "back"), ["1 superseded", "3 deployed"]);
  assert.deepEqual(runsOf("back"), ["upgrade", "upgrade", "rollback"]);

  // The earlier content is installed already.
  await assign("back", good, actions);
  await agent.report((state) => state.name === "back" && state.release?.revision === 3);
  assert.deepEqual(runsOf("back"), ["upgrade", "upgrade", "rollback"]);
  await assign("back", better, actions);
  await deployed("back", better);
});

test("a failed installation is uninstalled, and installed again as often as retries say", async () => {
  await assign("again", bad, { install: { remediation: { retries: 1 } } });

  const { message } = await failed("again", "RETRIES_EXCEEDED");

  assert.match(message, /^2 attempts of the installation failed/);
  assert.deepEqual(runsOf("again"), ["upgrade", "uninstall", "upgrade"]);
  assert.deepEqual(await releaseHistory(client, "again"), ["1 failed"]);
});

test("RetryOnFailure upgrades a failed installation after its interval, without remediation", async () => {
  const strategy = { name: "RetryOnFailure", retryIntervalSeconds: 0.2 } as const;
  await assign("retried", bad, { install: { strategy }, upgrade: { strategy } });
  await waitForRevision(client, "retried", 3, "failed");
  const running = await agent.report(
    ({ name, message }) => name === "retried" && /^attempt 2 of the upgrade is/.test(message),
  );
  assert.match(running.message, /is running since \S+Z; before: helm upgrade --install .*rejected/);
  assert.deepEqual([running.phase, running.retryAt], ["failed", undefined]);
  assert.deepEqual([...new Set(runsOf("retried"))], ["upgrade"]);

  await assign("retried", good, { install: { strategy }, upgrade: { strategy } });
  await deployed("retried", good);
});

test("a release that does not become ready in time is rolled back, and no process waits for it", async () => {
  const actions = {
    timeoutSeconds: 2,
    upgrade: { remediation: { remediateLastFailure: true } },
  };
  await assign("slow", good, actions);
  await deployed("slow", good);
  await assign("slow", stuck, actions);

  const progressing = await agent.report(
    (state) => state.name === "slow" && state.release?.chartVersion === "3.0.0",
  );
  assert.deepEqual([progressing.phase, progressing.ready], ["deployed", false]);
  const { message } = await failed("slow", "RETRIES_EXCEEDED");

  assert.match(
    message,
    /was not ready at the end of its timeout: Pod stuck: .*; it was rolled back; retrying at /,
  );
  assert.equal(await versionIn("slow"), "1.0.0");
  assert.deepEqual(await releaseHistory(client, "slow"), ["2 failed", "3 deployed"]);
  assert.ok(!agent.helmRuns.some((args) => args.includes("slow") && args.includes("--wait")));
  const { deploymentId } = progressing;
  const rolledBack = agent.reports.filter(
    (state) => state.deploymentId === deploymentId && state.release?.chartVersion === "1.0.0",
  );
  assert.deepEqual(rolledBack, [], "it is never reported as deployed");
});

test("tests run when the release is ready, and pass", async () => {
  await assign("tested", passing, { test: { enable: true, filters: [{ name: "smoke" }] } });
  await deployed("tested", passing);

  assert.deepEqual(runsOf("tested"), ["upgrade", "test"]);
  assert.ok(await client.reader.get(configMaps, { namespace: "tested", name: "smoke" }));
  assert.equal(
    await client.reader.get(configMaps, { namespace: "tested", name: "load" }),
    undefined,
  );
});

test("a failed test is remediated like a failed upgrade", async () => {
  const actions = {
    test: { enable: true },
    upgrade: { remediation: { remediateLastFailure: true } },
  };
  await assign("untested", good, actions);
  await deployed("untested", good);
  await assign("untested", failing, actions);

  const { message } = await failed("untested", "RETRIES_EXCEEDED");

  assert.match(
    message,
    /helm test of release untested\/untested: rejected failed: .*; it was rolled back; retrying at /,
  );
  assert.equal(await versionIn("untested"), "1.0.0");
});

test("a failed test that is ignored does not make the release fail", async () => {
  await assign("ignored", failing, { test: { enable: true, ignoreFailures: true } });

  await deployed("ignored", failing);

  assert.deepEqual(runsOf("ignored"), ["upgrade", "test"]);
});

test("a failed upgrade with nothing to roll back to says so", async () => {
  const actions = {
    install: { strategy: { name: "RetryOnFailure", retryIntervalSeconds: 0.1 } },
    upgrade: { remediation: { retries: 5 } },
  } as const;
  await assign("first", bad, actions);
  await waitForRevision(client, "first", 1, "failed");

  const { message } = await failed("first", "ROLLBACK_TARGET_MISSING");

  assert.match(message, /there is no earlier revision to roll back to/);
});

test("a revision that somebody has changed is not a target of a rollback", async () => {
  const actions = { upgrade: { remediation: { retries: -1 } } };
  await assign("changed", good, actions);
  await deployed("changed", good);
  const ref = { namespace: "changed", name: "sh.helm.release.v1.changed.v1" };
  const other = await client.reader.get(secrets, {
    namespace: "stays",
    name: "sh.helm.release.v1.stays.v1",
  });
  await assign("changed", bad, actions);
  await client.patch(secrets, ref, { type: "merge", body: { data: other?.data ?? {} } });

  await failed("changed", "RELEASE_NOT_OURS");

  assert.ok(!runsOf("changed").includes("rollback"));
});

test("Reinstall uninstalls the release of a chart with another name first", async () => {
  const actions = { upgrade: { chartNameChangeStrategy: "Reinstall" } } as const;
  await assign("renamed", good, actions);
  await deployed("renamed", good);

  await assign("renamed", renamed, actions);
  await deployed("renamed", renamed);

  assert.deepEqual(runsOf("renamed"), ["upgrade", "uninstall", "upgrade"]);
  assert.deepEqual(await releaseHistory(client, "renamed"), ["1 deployed"]);
});

test("a request to reset tries again without retries left, once for each token", async () => {
  const actions = { install: { remediation: {} }, upgrade: { remediation: {} } };
  await assign("reset", bad, actions);
  await failed("reset", "RETRIES_EXCEEDED");
  assert.deepEqual(runsOf("reset"), ["upgrade"]);
  const earlier = agent.reports.length;
  const requestOf = (token: string) => ({ token, force: false, reset: true });

  await assign("reset", bad, actions, requestOf("1"));
  await waitForRevision(client, "reset", 2, "failed");
  await agent.report(
    (state) =>
      state.name === "reset" &&
      state.code === "RETRIES_EXCEEDED" &&
      agent.reports.indexOf(state) >= earlier,
  );
  await assign("reset", bad, actions, requestOf("1"));
  await assign("after", good, {});
  await deployed("after", good);
  assert.deepEqual(runsOf("reset"), ["upgrade", "upgrade"]);

  await assign("reset", bad, actions, requestOf("2"));
  await waitForRevision(client, "reset", 3, "failed");
});

test("a request to force upgrades a release that is in sync, once for each token", async () => {
  await assign("forced", good, {});
  await deployed("forced", good);

  await assign("forced", good, {}, { token: "1", force: true, reset: false });
  await waitForRevision(client, "forced", 2, "deployed");
  await assign("forced", good, {}, { token: "2", force: false, reset: false });
  await assign("later", good, {});
  await deployed("later", good);

  assert.deepEqual(runsOf("forced"), ["upgrade", "upgrade"]);
});

test("failed attempts are counted across restarts of the agent", async () => {
  await assign("counted", bad, { install: { remediation: {} } });
  await failed("counted", "RETRIES_EXCEEDED");

  await agent.restart();

  const { message } = await failed("counted", "RETRIES_EXCEEDED");
  assert.match(
    message,
    /^the installation failed, and no retries are left: helm upgrade --install/,
  );
  assert.deepEqual(runsOf("counted"), []);
});

test("a release that becomes ready is waited for until the same time after a restart of the agent", async () => {
  await assign("awaited", stuck, { timeoutSeconds: 3, install: { remediation: {} } });
  await agent.report((state) => state.name === "awaited" && state.phase === "deployed");

  await agent.restart();

  const { message } = await failed("awaited", "RETRIES_EXCEEDED");
  assert.match(
    message,
    /release awaited\/awaited was not ready at the end of its timeout: Pod stuck/,
  );
  assert.deepEqual(runsOf("awaited"), []);
  assert.deepEqual(await releaseHistory(client, "awaited"), ["1 failed"]);
});

test("a release that was not ready in time is tried again when it is", async () => {
  await assign("healed", late, { timeoutSeconds: 1, install: { remediation: {} } });
  await failed("healed", "RETRIES_EXCEEDED");

  for (const { metadata } of (await client.list(nodes)).items)
    await client.patch(nodes, metadata, {
      type: "merge",
      body: { metadata: { labels: { late: "healed" } } },
    });

  await deployed("healed", late);
  assert.deepEqual(await releaseHistory(client, "healed"), ["1 superseded", "2 deployed"]);
});

test("Jobs are waited for on request, and no process waits", async () => {
  const actions = { timeoutSeconds: 20, install: { disableWaitForJobs: false, remediation: {} } };
  await assign("worked", working, actions);
  await deployed("worked", working);

  await assign("unwaited", idling, { timeoutSeconds: 2 });
  await deployed("unwaited", idling);
  await assign("idle", idling, { ...actions, timeoutSeconds: 2 });
  const { message } = await failed("idle", "RETRIES_EXCEEDED");

  assert.match(message, /not ready at the end of its timeout: Job worker is not complete/);
  assert.ok(!agent.helmRuns.some((args) => args.includes("--wait")));
});
