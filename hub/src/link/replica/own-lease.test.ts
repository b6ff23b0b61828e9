import assert from "node:assert/strict";
import { epochFloorAnnotation } from "@flotilla/shared/api/names";
import { leases } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";

import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { acquireReplicaLease } from "./own-lease.ts";

const namespace = "flotilla-system";
const ref = { namespace, name: "flotilla-hub-replica-hub-0" };

function setUp() {
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  let processes = 0;
  function start() {
    processes += 1;
    const identity = `hub-0_${processes}`;
    return acquireReplicaLease({
      rest,
      namespace,
      replica: "hub-0",
      identity,
      clock,
      log: silentLog(),
    });
  }
  const stored = () => rest.peek(leases, ref)?.metadata.annotations?.[epochFloorAnnotation];
  return { rest, clock, start, stored };
}

describe("the epoch floor of a replica", () => {
  test("is stored in its Lease before it counts, above the given epoch", async () => {
    const { start, stored } = setUp();
    const lease = await start();
    assert.equal(lease.epochFloor, 0);
    assert.equal(stored(), undefined);

    await lease.raiseEpochFloor(7);

    assert.equal(lease.epochFloor, 8);
    assert.equal(stored(), "8");
  });

  test("is known to the next process of the same name, which raises it again", async () => {
    const { start, stored } = setUp();
    await (await start()).raiseEpochFloor(7);

    const next = await start();
    assert.equal(next.epochFloor, 8);
    await next.raiseEpochFloor(3);

    assert.equal(stored(), "9");
  });

  test("is in the Lease again when a leader has deleted it", async () => {
    const { rest, start, stored } = setUp();
    const lease = await start();
    await lease.raiseEpochFloor(7);
    await rest.delete(leases, ref);

    await lease.raiseEpochFloor(8);

    assert.equal(stored(), "9");
  });

  test("is not raised when the Lease cannot be written", async () => {
    const { rest, start } = setUp();
    const lease = await start();
    rest.failNext(new Error("no connection"));

    await assert.rejects(lease.raiseEpochFloor(7), /no connection/);

    assert.equal(lease.epochFloor, 0);
  });
});
