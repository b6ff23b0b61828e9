/** `flotilla simulate` as a user runs it, against a real hub on a real API server. */
import assert from "node:assert/strict";
import { simulationLabel } from "@flotilla/cli/simulate";
import {
  apiVersion,
  bundleDeployments,
  clusterRegistrationTokens,
  clusters,
  helmOps,
} from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { afterAll, onTestFinished, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { commandsIn, type RunningCommand } from "../harness/flotilla-command.ts";
import { waitForObject, waitUntilGone } from "../harness/wait.ts";

const { fleet, charts } = await startFleetForFile({ clusters: [] });
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { hub, workspace } = fleet;
const ofHub = ["--kubeconfig", fleet.hubPlane.kubeconfig];

async function simulate(name: string, ...args: readonly string[]): Promise<RunningCommand> {
  const running = flotilla.start(
    ...["simulate", ...ofHub, "--name", name, "--latency", "20ms", ...args],
  );
  onTestFinished(() => void running.child.kill("SIGKILL"));
  await running.printed(`All agents of ${name} are connected.`);
  return running;
}

/** Ctrl-C. */
async function end({ child, ended }: RunningCommand): Promise<string> {
  child.kill("SIGINT");
  const { code, stdout, stderr } = await ended;
  assert.deepEqual([code, stderr], [130, ""], stdout);
  return stdout;
}

test("simulated agents register, apply a constraint and an upgrade, and leave nothing behind", async () => {
  charts.publish(await configChart("web", "1.0.3"), await configChart("web", "2.0.0"));
  const running = await simulate("many", "--agents", "20", "--bundles", "1");
  await workspace.createHelmOp("web", {
    helm: { repo: charts.url, chart: "web", version: "~1.0" },
    pollingInterval: "1s",
    targets: [{ clusterSelector: { matchLabels: { [simulationLabel]: "many" } } }],
  });
  await workspace.waitUntilReady("web", "1.0.3", 20);
  await workspace.waitUntilReady("many-1", "", 20);
  charts.publish(await configChart("web", "1.0.4"));
  await workspace.waitUntilReady("web", "1.0.4", 20);
  assert.deepEqual(
    charts.requests.filter((request) => !request.endsWith("/index.yaml")),
    [],
    "no agent fetched a chart",
  );

  const stdout = await end(running);

  assert.match(stdout, /20 of 20 agents connected/);
  assert.match(
    stdout,
    /20 agents disconnected\n20 clusters deleted\n1 helmops deleted\n.*many deleted\n$/,
  );
  assert.deepEqual(await hub.reader.list(clusters), []);
  assert.deepEqual(await hub.reader.list(clusterRegistrationTokens), []);
  const ref = { namespace: workspaceNamespace, name: "many-1" };
  await waitUntilGone(hub, helmOps, ref);
});

test("agents that always fail report it in the HelmOp, with the next retry", async () => {
  const running = await simulate("sad", "--agents", "3", "--bundles", "1", "--failure-rate", "1");

  const helmOp = await workspace.waitForHelmOp(
    "sad-1",
    "failed in 3 clusters",
    ({ status }) => status?.summary?.errApplied === 3,
  );

  const ready = findCondition(helmOp.status?.conditions, "Ready");
  assert.equal(ready?.status, "False");
  assert.match(ready.message ?? "", /simulated failure; retrying at/);
  await end(running);
});

test("with --changes releases become not ready and ready again", async () => {
  const args = ["--agents", "2", "--bundles", "1", "--changes", "4"];
  const running = await simulate("lively", ...args);

  for (const ready of [2, 1, 2])
    await workspace.waitForHelmOp(
      "lively-1",
      `ready in ${ready} clusters`,
      ({ status }) => status?.summary?.ready === ready,
    );

  await end(running);
});

test("with --keep the created objects stay, are shown as offline, and are deleted with --remove", async () => {
  const running = await simulate("kept", "--agents", "2", "--bundles", "1", "--keep");
  await workspace.waitUntilReady("kept-1", "", 2);

  const stdout = await end(running);

  assert.match(stdout, /2 agents disconnected\n$/);
  const ref = { namespace: workspaceNamespace, name: "kept-1" };
  await waitForObject(
    hub,
    clusters,
    ref,
    "offline",
    (cluster) => cluster.status?.agent?.connected === false,
  );
  const deployments = await hub.reader.list(bundleDeployments);
  assert.equal(deployments.filter(({ metadata }) => metadata.name === "kept-1").length, 2);

  const again = await flotilla.run("simulate", ...ofHub, "--name", "kept", "--agents", "2");
  assert.equal(again.code, 1);
  assert.match(
    again.stderr,
    /Token kept, HelmOp kept-1, Cluster kept-1, Cluster kept-2.*--remove kept/,
  );
  assert.equal((await hub.reader.list(clusters)).length, 2, "the kept ones are left");

  const removal = await flotilla.run("simulate", ...ofHub, "--remove", "kept");
  assert.deepEqual([removal.code, removal.stderr], [0, ""]);
  assert.match(removal.stdout, /^2 clusters deleted\n1 helmops deleted\n.*kept deleted\n$/);
  assert.deepEqual(await hub.reader.list(clusters), []);
});

test("an existing registration token is neither used nor deleted", async () => {
  const ref = { namespace: workspaceNamespace, name: "factory-floor" };
  const token = { apiVersion, kind: clusterRegistrationTokens.kind, metadata: ref, spec: {} };
  const { metadata } = await hub.create(clusterRegistrationTokens, token);

  const { code, stdout, stderr } = await flotilla.run("simulate", ...ofHub, "--name", ref.name);

  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /ClusterRegistrationToken factory-floor.*choose another --name/);
  const after = await hub.reader.get(clusterRegistrationTokens, ref);
  assert.equal(after?.metadata.uid, metadata.uid);
});
