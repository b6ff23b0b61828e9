/** Approvals count if the API server has checked who gave them: `checked-names.ts`, by a leader on an API server in memory. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import { onTestFinished, test } from "vitest";
import { createStagedFleet } from "./testing/index.ts";

const strategy: RolloutStrategy = {
  onFailure: "Rollback",
  stages: [
    { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } },
    { name: "prod", before: [{ name: "board", approval: {} }] },
  ],
};

/** A first rollout, whose canary is ready and whose approval is given. */
async function approved(options: Parameters<typeof createStagedFleet>[2]) {
  const fleet = await createStagedFleet(strategy, { ams: { canary: "true" }, ber: {} }, options);
  onTestFinished(() => fleet.stop());
  fleet.ready();
  await fleet.pass();
  fleet.decide("board");
  await fleet.pass();
  const status = fleet.status();
  const record = status.stages?.[1]?.gates?.[0];
  return { fleet, status, record };
}

test("that it was checked is stored with the decision", async () => {
  const { fleet, record } = await approved({});

  assert.deepEqual([record?.decision?.by, record?.decision?.verified], ["alice", true]);
  assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber"]);
});

test("a name that was not checked halts the rollout, and takes nothing back", async () => {
  const { fleet, status, record } = await approved({ checksNames: false });

  assert.deepEqual([status.phase, status.reason], ["Halted", "GateUnverified"]);
  assert.match(
    status.message ?? "",
    /does not count: the API server has not checked who approved: /,
  );
  assert.deepEqual([record?.reason, record?.decision?.verified], ["Unverified", false]);
  assert.deepEqual(fleet.having("1.2.3"), ["ams"]);
});

test("it goes on where such a name is enough, and says that it was not checked", async () => {
  const { fleet, record } = await approved({ checksNames: false, unverifiedApprovals: true });

  assert.deepEqual([record?.decision?.by, record?.decision?.verified], ["alice", false]);
  assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber"]);
});
