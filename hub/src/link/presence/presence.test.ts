import assert from "node:assert/strict";
import { type Cluster, type ClusterAgent, clusters as clusterResource } from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { aCluster, workspace } from "../../testing/index.ts";
import { createPresence } from "./presence.ts";

const paris = {
  namespace: workspace,
  name: "paris",
  uid: "uid-paris",
  deploymentsNamespace: "cluster-paris",
};
const key = `${workspace}/paris`;
const arrival = {
  ...{ version: "test", namespace: "agent", orphans: [], reportedEpoch: 0 },
  capabilities: ["CorrectDrift"],
  kubernetesVersion: "v1.36.3",
  certificateExpiresAt: Date.UTC(2030, 0, 1),
};

/** The replica `hub-0`, and the Cluster as the API server has it. */
function start({
  previousRenewTime,
  agent,
  floor = 0,
}: {
  previousRenewTime?: string;
  agent?: ClusterAgent;
  floor?: number;
} = {}) {
  const clock = createFakeClock();
  const rest = createMemoryApiServer();
  const clusters = createStore<Cluster>();
  let isLeaseHeld = true;
  const made = aCluster("paris", {
    metadata: { uid: paris.uid },
    status: { ...(agent && { agent }) },
  });
  clusters.set(rest.put(clusterResource, made));
  const presence = createPresence({
    rest,
    clusters,
    replica: "hub-0",
    isLeaseHeld: () => isLeaseHeld,
    ...(previousRenewTime !== undefined && { previousRenewTime }),
    epochFloorOf: (replica) => (replica === "hub-0" ? floor : 0),
    clock,
  });
  const enqueued: string[] = [];
  presence.onChange((name) => void enqueued.push(name));
  const stored = () => rest.peek(clusterResource, { namespace: workspace, name: "paris" });
  return {
    clock,
    rest,
    presence,
    enqueued,
    agent: () => stored()?.status?.agent,
    reconcile: () => presence.reconcile(key, aContext()),
    connect: async () => {
      presence.opened(paris);
      return await presence.connected(paris, arrival);
    },
    /** Another writer changes the agent's status, and the watch delivers it or not. */
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
    holdLease: (isHeld: boolean) => {
      isLeaseHeld = isHeld;
    },
  };
}

describe("an agent whose stream has ended", () => {
  test("is offline since its end, after a delay in which it could have reconnected", async () => {
    const { clock, connect, presence, reconcile, agent } = start();
    const epoch = await connect();
    await clock.advance(60_000);
    presence.closed(paris, epoch);

    assert.equal((await reconcile()).kind, "requeue");
    assert.equal(agent()?.connected, true);

    await clock.advance(2_500);
    await reconcile();
    assert.equal(agent()?.connected, false);
    assert.equal(agent()?.lastSeen, "2026-01-01T00:01:00Z");
  });

  test("stays connected while it reconnects, and is offline when that fails", async () => {
    const { clock, connect, presence, reconcile, agent } = start();
    const epoch = await connect();
    presence.opened(paris);
    presence.closed(paris, epoch);
    await clock.advance(10_000);
    await reconcile();
    assert.equal(agent()?.connected, true);

    presence.closed(paris, 0);
    await reconcile();
    assert.equal(agent()?.connected, false);
  });

  test("and that has connected to another replica is not changed, also while the watch is behind", async () => {
    const { clock, rest, connect, presence, reconcile, agent, write } = start();
    const epoch = await connect();
    presence.closed(paris, epoch);
    const elsewhere = { connected: true, replica: "hub-1", epoch: epoch + 1 };
    write(elsewhere, false);
    await clock.advance(30_000);

    await reconcile();

    assert.deepEqual(agent(), elsewhere);
    assert.equal(rest.writes.at(-1), `replace clusters ${key}`, "it was tried, and conflicted");
  });
});

describe("an agent that is connected here", () => {
  test("and is recorded as offline, because this replica seemed dead, is recorded as connected again", async () => {
    const { connect, presence, reconcile, agent, write, enqueued } = start();
    const epoch = await connect();
    const before = agent();
    enqueued.length = 0;

    write({ ...before, connected: false }, true);
    assert.deepEqual(enqueued, [key]);
    await reconcile();

    assert.equal(agent()?.connected, true);
    assert.equal(agent()?.epoch, epoch);
    presence.closed(paris, epoch);
  });

  test("is not written while this replica does not hold its Lease, and other agents are not either", async () => {
    const { connect, reconcile, agent, write, holdLease } = start();
    await connect();
    write({ ...agent(), connected: false }, true);

    holdLease(false);
    assert.equal((await reconcile()).kind, "requeue");
    assert.equal(agent()?.connected, false);
    await assert.rejects(connect(), /could not renew its Lease, so it does not serve agents/);

    holdLease(true);
    await reconcile();
    assert.equal(agent()?.connected, true);
  });
});

describe("an agent that was connected to the previous process", () => {
  const recorded = {
    connected: true,
    replica: "hub-0",
    epoch: 4,
    lastSeen: "2025-11-01T00:00:00Z",
  };

  test("has a minute to reconnect, and is then offline since that process ended", async () => {
    const { clock, reconcile, agent } = start({
      previousRenewTime: "2025-12-24T18:00:00.000000Z",
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

describe("an agent that returns to a restarted replica, whose Cluster shows it as connected there", () => {
  const agent = {
    connected: true,
    replica: "hub-0",
    epoch: 4,
    version: arrival.version,
    namespace: arrival.namespace,
    capabilities: arrival.capabilities,
    kubernetesVersion: arrival.kubernetesVersion,
    lastSeen: "2025-11-01T00:00:00Z",
  };

  test("gets the floor of the replica as its epoch, without a write", async () => {
    const { rest, connect, agent: stored } = start({ agent, floor: 10 });

    assert.equal(await connect(), 10);

    assert.deepEqual(stored(), agent);
    assert.deepEqual(rest.writes, []);
  });

  test("has a higher epoch with each further stream, and is written", async () => {
    const { presence, connect, agent: stored } = start({ agent, floor: 10 });
    const first = await connect();
    const whileOpen = await connect();
    presence.closed(paris, first);
    presence.closed(paris, whileOpen);

    assert.deepEqual([first, whileOpen, await connect()], [10, 11, 12]);
    assert.equal(stored()?.epoch, 12);
  });

  test("is offline soon after its stream ends, since its end, with the epoch of that stream", async () => {
    const { clock, presence, connect, reconcile, agent: stored } = start({ agent, floor: 10 });
    const epoch = await connect();
    await clock.advance(90_000);
    presence.closed(paris, epoch);
    await clock.advance(2_500);

    await reconcile();

    const lastSeen = "2026-01-01T00:01:30Z";
    assert.deepEqual(stored(), { ...agent, connected: false, epoch: 10, lastSeen });
  });

  test("is recorded as connected again when another replica took this one for dead", async () => {
    const { connect, reconcile, agent: stored, write } = start({ agent, floor: 10 });
    await connect();
    write({ ...agent, connected: false }, true);

    await reconcile();

    assert.equal(stored()?.connected, true);
  });

  test("is written when its orphans change", async () => {
    const { rest, presence, connect, reconcile } = start({ agent, floor: 10 });
    const epoch = await connect();
    presence.orphansChanged(paris, epoch, ["web"]);

    await reconcile();

    const written = rest.peek(clusterResource, { namespace: workspace, name: "paris" });
    assert.deepEqual(written?.status?.orphans, ["web"]);
  });

  const recordedOtherwise: readonly (readonly [what: string, ClusterAgent])[] = [
    ["another version", { ...agent, version: "older" }],
    ["another namespace", { ...agent, namespace: "elsewhere" }],
    ["no capabilities", { ...agent, capabilities: undefined }],
    ["another version of Kubernetes", { ...agent, kubernetesVersion: "v1.35.1" }],
    ["another replica", { ...agent, replica: "hub-1" }],
    ["no connection", { ...agent, connected: false }],
    ["an epoch that was recorded after the start", { ...agent, epoch: 10 }],
  ];
  for (const [what, recorded] of recordedOtherwise) {
    test(`is written when its Cluster shows ${what}`, async () => {
      const { connect, agent: stored } = start({ agent: recorded, floor: 10 });

      const epoch = await connect();

      assert.ok(epoch > (recorded.epoch ?? 0));
      assert.deepEqual(
        {
          ...{ replica: stored()?.replica, version: stored()?.version, epoch: stored()?.epoch },
          capabilities: stored()?.capabilities,
          kubernetesVersion: stored()?.kubernetesVersion,
        },
        {
          ...{ replica: "hub-0", version: arrival.version, epoch },
          capabilities: arrival.capabilities,
          kubernetesVersion: arrival.kubernetesVersion,
        },
      );
    });
  }
});
