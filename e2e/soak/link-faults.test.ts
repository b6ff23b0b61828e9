/**
 * Faults of the connection between agent and hub that both sides detect only after tens of seconds: a peer that accepts
 * connections and does not respond, and bytes that are dropped in one direction.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "vitest";
import { assertDropIsNoticed, startProxiedFleet } from "../src/faults/proxied-fleet.ts";
import { endOfLog } from "../src/harness/log-file.ts";

const proxied = await startProxiedFleet();
const { fleet, cluster, link } = proxied;

// First, because the backoff of the agent grows with each failure.
test("an agent leaves a hub that accepts connections and never responds, and logs why", async (t) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.onTestFinished(() => {
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
  await proxied.change();
  link.setBackends(fleet.replicas.map(({ ports }) => ports.grpc));

  await proxied.converged();
});

for (const side of ["agent", "hub"] as const) {
  test(`both sides detect within 30 s that the bytes of the ${side} are dropped, and each change is installed once after it`, () =>
    assertDropIsNoticed(proxied, [side]));
}

test("a connection that is cut every 300 ms during a rollout only delays the rollout", async () => {
  for (let times = 0; times < 30; times += 1) {
    link.cut();
    if (times % 3 === 0) await proxied.change();
    await sleep(300);
  }

  await proxied.converged();
});
