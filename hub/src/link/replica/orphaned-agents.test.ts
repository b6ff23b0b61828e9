import assert from "node:assert/strict";
import { type Cluster, type ClusterAgent, clusters } from "@flotilla/shared/api";
import { done } from "@flotilla/shared/kube/controller";
import { type Lease, leases } from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { aCluster, createWatchedStore, workspace } from "../../testing/index.ts";
import { orphanedAgentsReconciler } from "./orphaned-agents.ts";
import { acquireReplicaLease } from "./own-lease.ts";
import { createReplicas } from "./replicas.ts";

const namespace = "flotilla-system";

/** A leader `hub-0` whose watch has worked for a while, and another replica `hub-1`. */
async function setUp() {
  const clock = createFakeClock();
  const rest = createMemoryApiServer();
  const replicaLeases = createWatchedStore<Lease>();
  const members = createWatchedStore<Cluster>();
  const replicas = createReplicas({ leases: replicaLeases, replica: "hub-0", clock });
  const stop = new AbortController();

  function watchDelivers(): void {
    for (const name of ["hub-0", "hub-1"]) {
      const lease = rest.peek(leases, { namespace, name: `flotilla-hub-replica-${name}` });
      if (lease !== undefined) replicaLeases.saw(lease);
    }
  }

  async function join(replica: string) {
    const identity = `${replica}_1`;
    const deps = { rest, namespace, replica, identity, clock, log: silentLog() };
    const lease = await acquireReplicaLease(deps);
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, stop.signal]);
    return { lease, keeping: lease.renew(signal), kill: () => ending.abort() };
  }

  const own = await join("hub-0");
  const other = await join("hub-1");
  watchDelivers();
  const reconcile = orphanedAgentsReconciler({
    rest,
    clusters: members,
    replicas,
    replica: "hub-0",
    clock,
  });

  return {
    clock,
    rest,
    replicas,
    own,
    other,
    watchDelivers,
    reconcile: (replica: string) => reconcile(replica, aContext()),
    /** Advances the clock while the watch works. */
    async passes(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 1_000) {
        await clock.advance(1_000);
        watchDelivers();
      }
    },
    connect(name: string, agent: ClusterAgent): void {
      members.saw(rest.put(clusters, aCluster(name, { status: { agent } })));
    },
    agentOf: (name: string) => rest.peek(clusters, { namespace: workspace, name })?.status?.agent,
    /** Another client writes it, and the watch is behind. */
    write: (name: string, agent: ClusterAgent) =>
      void rest.put(clusters, aCluster(name, { status: { agent } })),
    async end() {
      stop.abort();
      await Promise.all([own.keeping, other.keeping]);
    },
  };
}

const ofOther: ClusterAgent = {
  connected: true,
  replica: "hub-1",
  epoch: 4,
  lastSeen: "2025-12-31T00:00:00Z",
};

describe("the agents of another replica", () => {
  test("stay connected while it holds its Lease", async () => {
    const hub = await setUp();
    hub.connect("paris", ofOther);

    for (let round = 0; round < 20; round += 1) {
      await hub.passes(10_000);
      const outcome = await hub.reconcile("hub-1");
      assert.equal(outcome.kind, "requeue");
    }

    assert.deepEqual(hub.agentOf("paris"), ofOther);
    assert.equal(hub.replicas.alive(), 2);
    await hub.end();
  });

  test("are offline since its last renewal, once its Lease has expired", async () => {
    const hub = await setUp();
    hub.connect("paris", ofOther);
    await hub.passes(10_000);
    // It renewed 4 s ago.
    hub.other.kill();

    await hub.passes(21_000);
    assert.deepEqual(await hub.reconcile("hub-1"), {
      kind: "requeue",
      afterMs: 1_000,
      why: "the Lease may still be renewed",
    });
    assert.deepEqual(hub.agentOf("paris"), ofOther);

    await hub.passes(1_000);
    await hub.reconcile("hub-1");
    assert.deepEqual(hub.agentOf("paris"), {
      ...ofOther,
      connected: false,
      lastSeen: "2026-01-01T00:00:06Z",
    });
    assert.equal(hub.replicas.alive(), 1);
    await hub.end();
  });

  test("that have connected to another replica are not changed, also while the watch is behind", async () => {
    const hub = await setUp();
    hub.connect("paris", ofOther);
    hub.connect("rome", ofOther);
    hub.other.kill();
    await hub.passes(26_000);
    const elsewhere = { ...ofOther, replica: "hub-2", epoch: 5 };
    hub.write("paris", elsewhere);

    await hub.reconcile("hub-1");

    assert.deepEqual(hub.agentOf("paris"), elsewhere);
    assert.equal(hub.agentOf("rome")?.connected, false);
    await hub.end();
  });

  test("are offline also when the replica never had a Lease", async () => {
    const hub = await setUp();
    const agent = { ...ofOther, replica: "hub-deleted-long-ago" };
    hub.connect("paris", agent);

    await hub.passes(25_000);
    await hub.reconcile(agent.replica);
    assert.deepEqual(hub.agentOf("paris"), agent);

    await hub.passes(1_000);
    assert.deepEqual(await hub.reconcile(agent.replica), done());
    assert.deepEqual(hub.agentOf("paris"), {
      ...agent,
      connected: false,
      lastSeen: "2026-01-01T00:00:00Z",
    });
    await hub.end();
  });

  test("have a full duration again after a gap of the watch", async () => {
    const hub = await setUp();
    hub.connect("paris", ofOther);
    hub.other.kill();
    // The API server is unavailable for all, or this process is frozen.
    await hub.clock.advance(60_000);

    assert.equal((await hub.reconcile("hub-1")).kind, "requeue");
    await hub.passes(26_000);
    await hub.reconcile("hub-1");
    assert.deepEqual(hub.agentOf("paris"), ofOther);

    await hub.passes(1_000);
    await hub.reconcile("hub-1");
    assert.equal(hub.agentOf("paris")?.connected, false);
    await hub.end();
  });

  test("of this replica are not changed here, whatever the state of its Lease", async () => {
    const hub = await setUp();
    const agent = { ...ofOther, replica: "hub-0" };
    hub.connect("paris", agent);
    await hub.passes(60_000);

    assert.deepEqual(await hub.reconcile("hub-0"), done());

    assert.deepEqual(hub.agentOf("paris"), agent);
    await hub.end();
  });

  test("cause one write each", async () => {
    const hub = await setUp();
    const names = Array.from({ length: 200 }, (_, index) => `c${index}`);
    for (const name of names) hub.connect(name, ofOther);
    hub.other.kill();
    await hub.passes(26_000);
    const before = hub.rest.writes.length;

    await hub.reconcile("hub-1");
    await hub.reconcile("hub-1");

    const written = hub.rest.writes.slice(before);
    assert.equal(written.length, names.length);
    assert.equal(new Set(written).size, names.length);
    await hub.end();
  });
});

describe("the Lease of a replica", () => {
  test("causes ten requests a minute at most", async () => {
    const hub = await setUp();
    hub.other.kill();
    const before = hub.rest.writes.length;

    await hub.passes(600_000);

    const written = hub.rest.writes.length - before;
    assert.ok(written <= 100 && written > 80, `${written} in ten minutes`);
    await hub.end();
  });

  test("that was released shows since when, and is deleted later", async () => {
    const hub = await setUp();
    hub.connect("paris", ofOther);
    await hub.passes(5_000);
    hub.other.kill();
    await hub.other.lease.release();
    await hub.passes(1_000);
    assert.equal(hub.replicas.alive(), 1);

    await hub.passes(26_000);
    await hub.reconcile("hub-1");
    assert.equal(hub.agentOf("paris")?.lastSeen, "2026-01-01T00:00:05Z");
    const ref = { namespace, name: "flotilla-hub-replica-hub-1" };
    assert.notEqual(hub.rest.peek(leases, ref), undefined);

    await hub.passes(10 * 60_000);
    assert.deepEqual(await hub.reconcile("hub-1"), done());
    assert.equal(hub.rest.peek(leases, ref), undefined);
    await hub.end();
  });

  test("that was deleted is created again by the next renewal", async () => {
    const hub = await setUp();
    const ref = { namespace, name: "flotilla-hub-replica-hub-1" };
    await hub.rest.delete(leases, ref);

    await hub.passes(8_000);

    assert.equal(hub.rest.peek(leases, ref)?.spec?.holderIdentity, "hub-1_1");
    assert.equal(hub.other.lease.isHeld, true);
    await hub.end();
  });

  test("belongs to the latest process of its name, and the earlier one stops", async () => {
    const hub = await setUp();
    await hub.passes(2_000);
    const deps = { rest: hub.rest, namespace, clock: hub.clock, log: silentLog() };
    const later = await acquireReplicaLease({ ...deps, replica: "hub-1", identity: "hub-1_2" });

    await hub.passes(8_000);

    assert.equal(later.previousRenewTime, "2026-01-01T00:00:00.000000Z");
    assert.equal(hub.other.lease.isHeld, false);
    const lease = hub.rest.peek(leases, { namespace, name: "flotilla-hub-replica-hub-1" });
    assert.equal(lease?.spec?.holderIdentity, "hub-1_2");
    await hub.other.lease.release();
    assert.equal(
      hub.rest.peek(leases, { namespace, name: "flotilla-hub-replica-hub-1" }),
      lease,
      "is not released by a process that does not hold it",
    );
    await hub.end();
  });

  test("survives failures of the API server, and expires without renewal", async () => {
    const hub = await setUp();
    hub.rest.failNext(...Array.from({ length: 60 }, () => new Error("unavailable")));

    await hub.passes(25_000);
    assert.equal(hub.own.lease.isHeld, true);
    await hub.passes(2_000);
    assert.equal(hub.own.lease.isHeld, false);
    await hub.passes(20_000);
    assert.equal(hub.own.lease.isHeld, true);
    await hub.end();
  });

  test("has a valid name for any name of a replica", async () => {
    const hub = await setUp();
    const deps = { rest: hub.rest, namespace, clock: hub.clock, log: silentLog() };
    for (const replica of ["Hub 7 (Köln)", "hub.example.org", "x".repeat(300)])
      await acquireReplicaLease({ ...deps, replica, identity: replica });

    const names = hub.rest.writes.filter((write) => write.startsWith("create leases"));
    assert.equal(new Set(names).size, 5);
    for (const name of names) assert.match(name, /flotilla-hub-replica-[a-z0-9-]{1,63}$/);
    await hub.end();
  });
});
