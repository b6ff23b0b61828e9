import assert from "node:assert/strict";
import type { Cluster, ClusterAgent } from "@flotilla/shared/api/cluster.ts";
import { clusters as clusterResource } from "@flotilla/shared/api/resources.ts";
import { createStore } from "@flotilla/shared/kube/cache/store.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import { aContext } from "@flotilla/shared/kube/testing/a-context.ts";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { describe, test } from "vitest";
import { aCluster, workspace } from "../testing/objects.ts";
import { createPresence } from "./presence.ts";

const paris = {
  namespace: workspace,
  name: "paris",
  uid: "uid-paris",
  deploymentsNamespace: "cluster-paris",
};
const key = `${workspace}/paris`;
const arrival = { version: "test", namespace: "agent", orphans: [], reportedEpoch: 0 };

/** The replica `hub-0`, and the Cluster as the API server has it. */
function start({ keptBefore, agent }: { keptBefore?: string; agent?: ClusterAgent } = {}) {
  const clock = createFakeClock();
  const rest = createMemoryApiServer();
  const clusters = createStore<Cluster>();
  let isCountedOn = true;
  const made = aCluster("paris", {
    metadata: { uid: paris.uid },
    status: { ...(agent && { agent }) },
  });
  clusters.set(rest.put(clusterResource, made));
  const presence = createPresence({
    rest,
    clusters,
    replica: "hub-0",
    isCountedOn: () => isCountedOn,
    ...(keptBefore !== undefined && { keptBefore }),
    clock,
  });
  const told: string[] = [];
  presence.onChange((name) => void told.push(name));
  const stored = () => rest.peek(clusterResource, { namespace: workspace, name: "paris" });
  return {
    clock,
    rest,
    presence,
    told,
    agent: () => stored()?.status?.agent,
    reconcile: () => presence.reconcile(key, aContext()),
    connect: async () => {
      presence.coming(paris);
      return await presence.arrived(paris, arrival);
    },
    /** Somebody else writes what is the replicas', and the watch delivers it or not. */
    write(changed: ClusterAgent, isSeen: boolean): void {
      const current = stored();
      assert.ok(current !== undefined);
      const written = rest.put(clusterResource, {
        ...current,
        status: { ...current.status, agent: changed },
      });
      if (!isSeen) return;
      clusters.set(written);
      presence.clusterChanged(keyOf(written), written);
    },
    count: (isOn: boolean) => {
      isCountedOn = isOn;
    },
  };
}

describe("an agent whose stream has ended", () => {
  test("is gone after a moment in which it could have come back, as of its end", async () => {
    const { clock, connect, presence, reconcile, agent } = start();
    const epoch = await connect();
    await clock.advance(60_000);
    presence.left(paris, epoch);

    assert.equal((await reconcile()).kind, "requeue");
    assert.equal(agent()?.connected, true);

    await clock.advance(2_500);
    await reconcile();
    assert.equal(agent()?.connected, false);
    assert.equal(agent()?.lastSeen, "2026-01-01T00:01:00Z");
  });

  test("is not gone while it comes back, and is if it does not make it", async () => {
    const { clock, connect, presence, reconcile, agent } = start();
    const epoch = await connect();
    presence.coming(paris);
    presence.left(paris, epoch);
    await clock.advance(10_000);
    await reconcile();
    assert.equal(agent()?.connected, true);

    presence.left(paris, 0);
    await reconcile();
    assert.equal(agent()?.connected, false);
  });

  test("and that has gone to another replica is that one's, also where the watch is behind", async () => {
    const { clock, rest, connect, presence, reconcile, agent, write } = start();
    const epoch = await connect();
    presence.left(paris, epoch);
    const elsewhere = { connected: true, replica: "hub-1", epoch: epoch + 1 };
    write(elsewhere, false);
    await clock.advance(30_000);

    await reconcile();

    assert.deepEqual(agent(), elsewhere);
    assert.equal(rest.writes.at(-1), `replace clusters ${key}`, "it was tried, and refused");
  });
});

describe("an agent that is here", () => {
  test("and is said to be gone, since this replica was taken for dead, is written back", async () => {
    const { connect, presence, reconcile, agent, write, told } = start();
    const epoch = await connect();
    const before = agent();
    told.length = 0;

    write({ ...before, connected: false }, true);
    assert.deepEqual(told, [key]);
    await reconcile();

    assert.equal(agent()?.connected, true);
    assert.equal(agent()?.epoch, epoch);
    presence.left(paris, epoch);
  });

  test("is not written back while nobody counts on this replica, and no other is answered", async () => {
    const { connect, reconcile, agent, write, count } = start();
    await connect();
    write({ ...agent(), connected: false }, true);

    count(false);
    assert.equal((await reconcile()).kind, "requeue");
    assert.equal(agent()?.connected, false);
    await assert.rejects(connect(), /could not renew its Lease, so it answers no agent/);

    count(true);
    await reconcile();
    assert.equal(agent()?.connected, true);
  });
});

describe("an agent that the process before held", () => {
  const recorded = {
    connected: true,
    replica: "hub-0",
    epoch: 4,
    lastSeen: "2025-11-01T00:00:00Z",
  };

  test("has a minute to come back, and is gone since that process was", async () => {
    const { clock, reconcile, agent } = start({
      keptBefore: "2025-12-24T18:00:00.000000Z",
      agent: recorded,
    });
    await clock.advance(59_000);
    await reconcile();
    assert.equal(agent()?.connected, true);

    await clock.advance(1_000);
    await reconcile();
    assert.deepEqual(agent(), { ...recorded, connected: false, lastSeen: "2025-12-24T18:00:00Z" });
  });
});
