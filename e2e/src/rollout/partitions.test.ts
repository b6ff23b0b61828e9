/** A rollout with partitions over simulated agents, by a real hub on a real API server. An observer watches that API server. */
import assert from "node:assert/strict";
import { simulationLabel } from "@flotilla/cli/simulate";
import { type BundleDeployment, bundleDeployments, bundles } from "@flotilla/shared/api";
import { clusterLabel, workspaceNamespace } from "@flotilla/shared/api/names";
import { afterAll, onTestFinished, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import { messageOf } from "../harness/wait.ts";
import { createRecorder } from "../replicas/history.ts";

const agents = 12;
const { fleet, charts } = await startFleetForFile({ clusters: [] });
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { hub, workspace } = fleet;

const clusterOf = ({ metadata }: BundleDeployment) => metadata.labels?.[clusterLabel] ?? "";

test("partitions are updated one after the other, and at no time more clusters than allowed are unavailable", async () => {
  charts.publish(await configChart("web", "1.0.0"), await configChart("web", "1.1.0"));
  const running = flotilla.start(
    ...["simulate", "--kubeconfig", fleet.hubPlane.kubeconfig, "--name", "wave"],
    ...["--agents", `${agents}`, "--bundles", "0", "--latency", "400ms"],
  );
  onTestFinished(() => void running.child.kill("SIGKILL"));
  await running.printed("All agents of wave are connected.");
  await workspace.createHelmOp("web", {
    helm: { repo: charts.url, chart: "web", version: "1.0.0" },
    targets: [{ clusterSelector: { matchLabels: { [simulationLabel]: "wave" } } }],
    rolloutStrategy: { maxUnavailable: 2, autoPartitionThreshold: 1, autoPartitionSize: "50%" },
  });
  await workspace.waitUntilReady("web", "1.0.0", agents);
  const ready = await hub.reader.get(bundles, { namespace: workspaceNamespace, name: "web" });
  assert.deepEqual(
    ready?.status?.partitions?.map(({ name, count }) => [name, count]),
    [
      ["Partition 0 - 6", 6],
      ["Partition 6 - 12", 6],
    ],
  );
  const recorder = createRecorder(hub);
  onTestFinished(() => recorder.stop());
  const history = await recorder.record(bundleDeployments);
  const before = history.length;

  await workspace.patchHelmOp("web", { helm: { version: "1.1.0" } });
  const waiting = await workspace.waitForMessage("web", /clusters wait for their turn/);
  assert.match(messageOf(waiting, "Ready"), /^rollout: \d+ clusters wait for their turn, /);
  const done = await workspace.waitUntilReady("web", "1.1.0", agents);

  assert.equal(messageOf(done, "Accepted"), "");
  const inFlight = new Set<string>();
  const order: string[] = [];
  let most = 0;
  for (const version of history.since(before)) {
    const { spec: desired, status } = version;
    const cluster = clusterOf(version);
    const isDone = status?.appliedDeploymentID === desired.deploymentID && status.ready === true;
    if (isDone) inFlight.delete(cluster);
    else {
      if (!order.includes(cluster)) order.push(cluster);
      inFlight.add(cluster);
    }
    most = Math.max(most, inFlight.size);
  }
  assert.equal(most, 2);
  const names = Array.from({ length: agents }, (_, index) => `wave-${index + 1}`).sort();
  assert.deepEqual(order.toSorted(), names);
  // The last cluster of one partition and the first of the next one may be promoted in the same step.
  const first = order.slice(0, agents / 2 - 1);
  assert.ok(first.every((name) => names.indexOf(name) < agents / 2));
});
