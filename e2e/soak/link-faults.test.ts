/**
 * Faults of the connection between agent and hub that take tens of seconds: a peer that accepts connections and does not
 * respond, bytes that are dropped, a connection that is cut again and again; and kills of each process.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@flotilla/local/process";
import { test } from "vitest";
import { isApiServerReady } from "../src/faults/faults.ts";
import {
  assertDropIsNoticed,
  isConnected,
  startProxiedFleet,
} from "../src/faults/proxied-fleet.ts";
import { type ProcessToSupervise, supervise } from "../src/faults/supervised-process.ts";
import { hangMs } from "../src/harness/hang.ts";
import { endOfLog } from "../src/harness/log-file.ts";

const proxied = await startProxiedFleet({ ownPlanes: true });
const { fleet, cluster, link, change, converged, clusterThat } = proxied;

// First, because the backoff of the agent grows with each failure.
test("an agent leaves a hub that accepts connections and never responds, and logs why", async (t) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const reached = fleet.replicas.map(({ ports }) => ports.grpc);
  t.onTestFinished(() => {
    // Also if it fails: the others would wait for the hub for half an hour.
    link.setBackends(reached);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const from = await endOfLog(cluster.agentLog);
  link.setBackends([(silent.address() as AddressInfo).port]);
  link.cut();

  await proxied.offlineOnHub(performance.now());
  const warning = await proxied.agentWarning(from, /connect to the hub at /);
  assert.match(warning, /"err":"connect to the hub at 127\.0\.0\.1:\d+: \S+ /);
  assert.match(await proxied.readiness(), /not connected to the hub: connect to the hub at/);
  await change();
  link.setBackends(reached);

  await converged();
});

for (const sides of [["agent"], ["hub"], ["agent", "hub"]] as const) {
  test(`both sides detect within 30 s that the bytes of the ${sides.join(" and the ")} are dropped, and each change is installed once after it`, () =>
    assertDropIsNoticed(proxied, sides));
}

test("a connection that is cut every 300 ms during a rollout only delays the rollout", async () => {
  for (let times = 0; times < 30; times += 1) {
    link.cut();
    if (times % 3 === 0) await change();
    await sleep(300);
  }

  await converged();
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
    await waitUntil(() => isApiServerReady(fleet), { what: "the API server", timeoutMs: hangMs });
    await change();
    assert.ok(each.kill(0), `${each.name} is running`);

    await converged(() => agent.ends);
  }
});
