/** The guard on an API server in memory. */
import assert from "node:assert/strict";
import { fleetLeaseNames, fleetNamespace } from "@flotilla/shared/api/names";
import type { EventNote } from "@flotilla/shared/kube/events";
import { configMaps, type Lease, leases } from "@flotilla/shared/kube/objects";
import { connected, respondStatus } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, type TestContext, test } from "vitest";
import { createFleetGuard } from "./guard.ts";

const first = "fleet-controller-leader-election-shard";
const object = { metadata: { name: "a", namespace: "x" } };

interface Options {
  readonly takeOver?: boolean;
  readonly isHeld?: boolean;
  /** The name of the Lease. */
  readonly name?: string;
}

async function setUp(
  t: TestContext,
  { takeOver = false, isHeld = true, name = first }: Options = {},
) {
  const { server, clock, rest } = await connected(t);
  let renewals = 0;
  const renew = (holderIdentity = "fleet-controller-1") => {
    renewals += 1;
    const lease: Lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace: fleetNamespace },
      spec: {
        holderIdentity,
        leaseDurationSeconds: 30,
        renewTime: `2020-01-01T00:00:0${renewals}.000000Z`,
      },
    };
    server.put(leases, lease);
  };
  if (isHeld) renew();
  const events: EventNote[] = [];
  let notify = (): void => undefined;
  const log = silentLog();
  const guard = createFleetGuard({
    rest,
    takeOver,
    clock,
    random: () => 0.5,
    log,
    events: {
      record: (_, event) => {
        events.push(event);
        notify();
      },
    },
  });
  const stop = new AbortController();
  const running = guard.run(stop.signal);
  let isOpened = false;
  const opened = guard.opened(stop.signal).then(() => {
    isOpened = !stop.signal.aborted;
  });
  t.onTestFinished(async () => {
    stop.abort();
    await Promise.all([running, opened]);
  });
  return {
    server,
    clock,
    guard,
    events,
    opened,
    renew,
    rest: guard.fence(rest),
    isOpened: () => isOpened,
    /** Resolves when the guard has said that it is blocked. */
    refused: () =>
      new Promise<void>((resolve) => {
        notify = resolve;
        if (events.length > 0) resolve();
      }),
    /** Resolves when it waits for the end of a Lease. */
    waits: (ms: number) => clock.timer((delayMs) => delayMs === ms),
    writes: () => server.requests.filter(({ kind }) => kind === "write").length,
  };
}

describe("a hub beside Fleet", () => {
  test("runs at once where Fleet never ran, and may write", async (t) => {
    const { guard, opened, rest, writes } = await setUp(t, { isHeld: false });

    assert.match(guard.blocked() ?? "", /^looking for Fleet's controllers/);
    await assert.rejects(rest.create(configMaps, object), { code: "FLEET_RUNNING" });
    await opened;

    assert.equal(guard.blocked(), undefined);
    await rest.create(configMaps, object);
    assert.equal(writes(), 1);
  });

  test("writes nothing while Fleet's Lease is renewed, and says why once", async (t) => {
    const { guard, refused, rest, renew, clock, events, waits, isOpened, writes } = await setUp(t, {
      takeOver: true,
    });
    await refused();

    for (let round = 0; round < 4; round += 1) {
      await waits(30_000);
      clock.advanceNow(20_000);
      renew();
    }
    await waits(30_000);

    assert.equal(isOpened(), false);
    assert.match(
      guard.blocked() ?? "",
      /Lease cattle-fleet-system\/fleet-controller-leader-election-shard is held by fleet-controller-1; the hub serves nothing and writes nothing; .*; the hub takes over once the Lease has expired$/,
    );
    assert.deepEqual(
      events.map(({ type, reason }) => [type, reason]),
      [["Warning", "FleetRunning"]],
    );
    await assert.rejects(rest.delete(configMaps, object.metadata), { code: "FLEET_RUNNING" });
    assert.equal(writes(), 0);
  });

  for (const name of fleetLeaseNames)
    test(`does not run while Lease ${name} is held`, async (t) => {
      const { guard, refused, isOpened } = await setUp(t, { name });
      await refused();

      assert.equal(isOpened(), false);
      assert.match(guard.blocked() ?? "", new RegExp(`cattle-fleet-system/${name} is held by`));
    });

  // The built-in role edit allows to create Leases, so every tenant can do this in their namespace.
  test("runs on, and writes, whatever Leases of Fleet's names are in other namespaces", async (t) => {
    const { server, guard, opened, rest } = await setUp(t, { isHeld: false });
    const putLeases = (namespace: string) => {
      for (const name of fleetLeaseNames)
        server.put<Lease>(leases, {
          metadata: { name, namespace },
          spec: { holderIdentity: "me", renewTime: "2020-01-01T00:00:01.000000Z" },
        });
    };
    putLeases("my-app");
    await opened;
    putLeases("my-other-app");

    await rest.create(configMaps, object);
    assert.equal(guard.closed.aborted, false);
  });

  test("takes over when the Lease has expired, if it is set to", async (t) => {
    const { guard, refused, clock, waits, opened, rest } = await setUp(t, { takeOver: true });
    await refused();
    await waits(30_000);

    clock.advanceNow(30_000);
    await opened;

    assert.equal(guard.blocked(), undefined);
    await rest.create(configMaps, object);
  });

  test("reads the Leases before it takes over: the watch may be behind", async (t) => {
    const { server, refused, clock, waits, isOpened, renew } = await setUp(t, { takeOver: true });
    await refused();
    await waits(30_000);
    const reads = () => server.requests.filter(({ kind }) => kind === "get").length;
    assert.equal(reads(), 0);

    renew();
    clock.advanceNow(30_000);
    await waits(30_000);

    assert.equal(isOpened(), false);
  });

  test("does not take over while the Leases cannot be read, and retries", async (t) => {
    const { server, refused, clock, waits, opened, isOpened } = await setUp(t, { takeOver: true });
    await refused();
    await waits(30_000);
    server.next("get", respondStatus(403, "Forbidden"));

    clock.advanceNow(30_000);
    await waits(1_000);
    assert.equal(isOpened(), false);

    clock.advanceNow(1_000);
    await opened;
  });

  test("goes on when a Lease appears that nobody holds, and ends when it is held", async (t) => {
    const { guard, opened, renew } = await setUp(t, { isHeld: false });
    await opened;
    const closed = new Promise((resolve) => guard.closed.addEventListener("abort", resolve));

    renew("");
    renew("fleet-controller-1");
    await closed;

    assert.match(guard.blocked() ?? "", /is held by fleet-controller-1/);
  });

  test("stays closed when the Lease has expired and it is not set to take over, until the Lease is deleted", async (t) => {
    const { server, guard, refused, clock, waits, opened, events, isOpened } = await setUp(t);
    await refused();
    await waits(30_000);

    await clock.advance(30_000);
    assert.equal(isOpened(), false);
    assert.match(
      guard.blocked() ?? "",
      /exists and is not renewed; .*set --take-over-from-fleet \(chart value takeOverFromFleet\) or delete the Lease$/,
    );
    assert.equal(events.length, 1);

    server.remove(leases, { name: first, namespace: fleetNamespace });
    await opened;
    assert.equal(guard.blocked(), undefined);
  });

  test("ends and writes nothing more when Fleet starts while it runs", async (t) => {
    const { guard, opened, renew, rest, writes } = await setUp(t, { isHeld: false });
    await opened;

    const closed = new Promise((resolve) => guard.closed.addEventListener("abort", resolve));
    renew();
    await closed;

    assert.throws(() => guard.closed.throwIfAborted(), { code: "FLEET_RUNNING" });
    await assert.rejects(rest.create(configMaps, object), { code: "FLEET_RUNNING" });
    assert.equal(writes(), 0);
    assert.match(guard.blocked() ?? "", /^Fleet's controllers run in this cluster/);
  });
});
