/** `flotilla simulate` as a person runs it, against a real hub on a real API server. */
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
import { startChartServer } from "../harness/chart-server.ts";
import { startTestFleet } from "../harness/fleet.ts";
import { commandsIn, type RunningCommand } from "../harness/flotilla-command.ts";
import { helmOpThat, isReady, objectThat } from "../harness/wait.ts";

const fleet = await startTestFleet({ clusters: [] });
afterAll(() => fleet.close());
const charts = await startChartServer();
afterAll(() => charts.close());
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { hub } = fleet;
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
  assert.deepEqual([code, stderr], [0, ""], stdout);
  return stdout;
}

test("simulated agents enrol, follow a constraint and an upgrade, and leave nothing behind", async () => {
  charts.publish(await configChart("web", "1.0.3"), await configChart("web", "2.0.0"));
  const running = await simulate("many", "--agents", "20", "--bundles", "1");
  await hub.create(helmOps, {
    apiVersion,
    kind: "HelmOp",
    metadata: { namespace: workspaceNamespace, name: "web" },
    spec: {
      helm: { repo: charts.url, chart: "web", version: "~1.0" },
      pollingInterval: "1s",
      targets: [{ clusterSelector: { matchLabels: { [simulationLabel]: "many" } } }],
    },
  });
  await helmOpThat(hub, "web", "ready at 1.0.3 in 20 clusters", isReady("1.0.3", 20));
  await helmOpThat(hub, "many-1", "ready, with a chart that is nowhere", isReady("", 20));
  charts.publish(await configChart("web", "1.0.4"));
  await helmOpThat(hub, "web", "ready at 1.0.4 in 20 clusters", isReady("1.0.4", 20));
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
  assert.deepEqual((await hub.list(clusters)).items, []);
  assert.deepEqual((await hub.list(clusterRegistrationTokens)).items, []);
  const ref = { namespace: workspaceNamespace, name: "many-1" };
  await objectThat(hub, helmOps, ref, "gone", (helmOp) => helmOp === undefined);
});

test("agents that always fail show it in the HelmOp, with what is tried next", async () => {
  const running = await simulate("sad", "--agents", "3", "--bundles", "1", "--failure-rate", "1");

  const helmOp = await helmOpThat(
    hub,
    "sad-1",
    "failed in 3 clusters",
    ({ status }) => status?.summary?.errApplied === 3,
  );

  const ready = findCondition(helmOp.status?.conditions, "Ready");
  assert.equal(ready?.status, "False");
  assert.match(ready.message ?? "", /simulated failure; retrying at/);
  await end(running);
});

test("with --keep what was made stays, is shown as offline, and goes with --remove", async () => {
  const running = await simulate("kept", "--agents", "2", "--bundles", "1", "--keep");
  await helmOpThat(hub, "kept-1", "ready", isReady("", 2));

  const stdout = await end(running);

  assert.match(stdout, /2 agents disconnected\n$/);
  const ref = { namespace: workspaceNamespace, name: "kept-1" };
  await objectThat(
    hub,
    clusters,
    ref,
    "offline",
    (cluster) => cluster?.status?.agent?.connected === false,
  );
  const { items } = await hub.list(bundleDeployments);
  assert.equal(items.filter(({ metadata }) => metadata.name === "kept-1").length, 2);

  const again = await flotilla.run("simulate", ...ofHub, "--name", "kept", "--agents", "2");
  assert.equal(again.code, 1);
  assert.match(again.stderr, /Token kept, HelmOp kept-1, Cluster kept-1 and 1 more.*--remove kept/);
  assert.equal((await hub.list(clusters)).items.length, 2, "the kept ones are left");

  const removal = await flotilla.run("simulate", ...ofHub, "--remove", "kept");
  assert.deepEqual([removal.code, removal.stderr], [0, ""]);
  assert.match(removal.stdout, /^2 clusters deleted\n1 helmops deleted\n.*kept deleted\n$/);
  assert.deepEqual((await hub.list(clusters)).items, []);
});

test("a registration token that somebody else made is neither used nor deleted", async () => {
  const ref = { namespace: workspaceNamespace, name: "factory-floor" };
  const token = { apiVersion, kind: clusterRegistrationTokens.kind, metadata: ref, spec: {} };
  const { metadata } = await hub.create(clusterRegistrationTokens, token);

  const { code, stdout, stderr } = await flotilla.run("simulate", ...ofHub, "--name", ref.name);

  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /ClusterRegistrationToken factory-floor.*choose another --name/);
  const after = await hub.get(clusterRegistrationTokens, ref);
  assert.equal(after?.metadata.uid, metadata.uid);
});
