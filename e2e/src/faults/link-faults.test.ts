/** Faults of the connection between agent and hub: afterwards each change is installed once. */
import assert from "node:assert/strict";
import { test } from "vitest";
import { endOfLog } from "../harness/log-file.ts";
import { isConnected, startProxiedFleet } from "./proxied-fleet.ts";

const proxied = await startProxiedFleet();
const { cluster, link, change, converged, clusterThat } = proxied;

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
