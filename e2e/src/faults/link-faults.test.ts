/** Faults of the connection between agent and hub, and kills of each process: afterwards each change is installed once. */
import assert from "node:assert/strict";
import { waitUntil } from "@flotilla/local/process";
import { test } from "vitest";
import { endOfLog } from "../harness/log-file.ts";
import { isApiServerReady } from "./faults.ts";
import { assertDropIsNoticed, isConnected, startProxiedFleet } from "./proxied-fleet.ts";
import { type ProcessToSupervise, supervise } from "./supervised-process.ts";

const proxied = await startProxiedFleet();
const { fleet, cluster, link, change, converged, clusterThat } = proxied;

test("both sides detect a dropped connection within 30 s, and each change is installed once after it", () =>
  assertDropIsNoticed(proxied, ["agent", "hub"]));

test("a half-closed connection is replaced", async () => {
  for (const side of ["agent", "hub"] as const) {
    const before = await clusterThat("connected", isConnected);
    const from = await endOfLog(cluster.agentLog);
    link.halve(side);
    await change();

    await proxied.agentWarning(from, /./);
    await converged();
    await clusterThat(
      "connected again",
      (found) =>
        isConnected(found) &&
        (found.status?.agent?.epoch ?? 0) > (before.status?.agent?.epoch ?? 0),
    );
  }
});

test("a connection with a high delay stays, and changes arrive", async () => {
  const before = await clusterThat("connected", isConnected);
  link.delay(600);
  for (let times = 0; times < 2; times += 1) {
    await change();
    await converged();
  }

  const now = await clusterThat("connected", isConnected);
  assert.equal(now.status?.agent?.epoch, before.status?.agent?.epoch);
});

test("a connection that is cut after each reconnect during a rollout only delays the rollout", async () => {
  let { status } = await clusterThat("connected", isConnected);
  // The backoff of the agent grows.
  for (let times = 0; times < 3; times += 1) {
    const epoch = status?.agent?.epoch ?? 0;
    await change();
    link.cut();
    ({ status } = await clusterThat("connected again", (found) => {
      return isConnected(found) && (found.status?.agent?.epoch ?? 0) > epoch;
    }));
  }

  await converged();
});

test("killing each process once during a rollout only delays the rollout", async (t) => {
  const keepRunning = (target: ProcessToSupervise) =>
    supervise(target, { note: (event) => void t.annotate(event) });
  const hubPlane = fleet.ownHubPlane();
  const [hub] = fleet.replicas;
  assert.ok(hub !== undefined);
  const agent = keepRunning({ name: "agent", process: cluster.agent, start: cluster.startAgent });
  const supervised = [
    agent,
    keepRunning(hub),
    ...(["etcd", "kube-apiserver"] as const).map((tool) =>
      keepRunning({
        name: tool,
        process: () => {
          const running = hubPlane.part(tool);
          assert.ok(running !== undefined);
          return running;
        },
        start: () => hubPlane.restart(tool),
      }),
    ),
  ];
  // Before the fleet ends its processes, which would be restarted otherwise.
  t.onTestFinished(async () => void (await Promise.all(supervised.map((each) => each.stop()))));

  for (const each of supervised) {
    await waitUntil(() => isApiServerReady(fleet), { what: "the API server", timeoutMs: 60_000 });
    await change();
    assert.ok(each.kill(0), `${each.name} is running`);

    await converged(() => agent.ends);
  }
});
