/** [3.4] Gates as objects: deleted before and after they are decided, and decided too late. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import { type Gate, gates } from "@flotilla/shared/api/rollout";
import { onTestFinished, test } from "vitest";
import { createStagedFleet, type StagedFleet } from "./testing/index.ts";

const strategy: RolloutStrategy = {
  stages: [
    {
      name: "all",
      maxUnavailable: 1,
      before: [{ name: "board", approval: {}, timeout: "10m" }],
    },
  ],
};

/** A rollout that waits for its Gate. */
async function waiting(): Promise<{ readonly fleet: StagedFleet; readonly gate: Gate }> {
  const fleet = await createStagedFleet(strategy, { ams: {}, ber: {} });
  onTestFinished(() => fleet.stop());
  const [gate] = fleet.gates();
  assert.ok(gate);
  return { fleet, gate };
}

test("[3.4] a Gate that is deleted undecided is made again, with the same deadline, which it keeps", async () => {
  const { fleet, gate } = await waiting();
  const { expiresAt } = gate.spec;
  assert.ok(expiresAt !== undefined);
  await fleet.pass(8 * 60_000);
  fleet.leader.rest.remove(gates, gate.metadata);
  await fleet.pass();

  const [again] = fleet.gates();
  assert.ok(again !== undefined);
  assert.notEqual(again.metadata.uid, gate.metadata.uid);
  assert.deepEqual(again.spec, gate.spec);
  assert.equal(fleet.status().stages?.[0]?.gates?.[0]?.uid, again.metadata.uid);
  await fleet.pass(2 * 60_000);
  assert.equal(fleet.status().reason, "GateExpired");
});

test("[3.4] a decision after the deadline does not count, not even before a leader has seen that it is over", async () => {
  const { fleet } = await waiting();
  await fleet.leader.stop();
  await fleet.leader.clock.advance(11 * 60_000);
  fleet.decide("board");

  await fleet.leader.drop();
  await fleet.pass();

  assert.equal(fleet.status().reason, "GateExpired");
  assert.deepEqual(fleet.having("1.2.3"), []);
});

test("[3.4] once its decision is stored the Gate may be deleted, and nothing changes", async () => {
  const { fleet, gate } = await waiting();
  fleet.decide("board");
  await fleet.pass();
  assert.deepEqual(fleet.having("1.2.3"), ["ams"]);
  const decided = fleet.status().stages?.[0]?.gates;

  fleet.leader.rest.remove(gates, gate.metadata);
  await fleet.leader.drop();
  fleet.ready();
  await fleet.pass();
  fleet.ready();
  await fleet.pass();

  assert.deepEqual(fleet.gates(), []);
  assert.deepEqual(fleet.status().stages?.[0]?.gates, decided);
  assert.equal(fleet.status().phase, "Completed");
});
