/** [3.7 no. 13] Contents of staged rollouts on an API server in memory: there as long as something may need them, then collected. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import { secrets } from "@flotilla/shared/kube/objects";
import { onTestFinished, test } from "vitest";
import { contentSecretName } from "../../rules/content/content-secret.ts";
import { createStagedFleet, type StagedFleet } from "./testing/index.ts";

/** Rollouts that have ended are not kept, so that they pin nothing. */
const strategy: RolloutStrategy = { historyLimit: 0, stages: [{ name: "all" }] };
/** Longer than a content is kept that nothing refers to. */
const graceMs = 6 * 60_000;

async function roll(fleet: StagedFleet): Promise<void> {
  fleet.ready();
  await fleet.pass();
  assert.equal(fleet.status().phase, "Completed");
}

/** 1.2.3 is rolled out everywhere, and 1.2.4 is on its way. `first`: the content of 1.2.3. */
async function started(): Promise<{ readonly fleet: StagedFleet; readonly first: string }> {
  const fleet = await createStagedFleet(strategy, { ams: {}, ber: {} });
  onTestFinished(() => fleet.stop());
  await roll(fleet);
  const first = fleet.deployment("ams")?.spec.deploymentID ?? "";
  await fleet.publish("1.2.4");
  return { fleet, first };
}

function isStored({ leader }: StagedFleet, content: string): boolean {
  const name = { namespace: "flotilla-system", name: contentSecretName(content) };
  return leader.rest.peek(secrets, name) !== undefined;
}

test("[3.7 no. 13] a content is there as long as a rollback may give it back, and a rollback gives it back", async () => {
  const { fleet, first } = await started();
  await roll(fleet);
  await fleet.pass(graceMs);
  assert.ok(isStored(fleet, first));

  fleet.command({ state: "RolledBack" });
  await fleet.pass();

  assert.deepEqual(
    ["ams", "ber"].map((name) => fleet.deployment(name)?.spec.deploymentID),
    [first, first],
  );
});

test("[3.7 no. 13] a content is collected some minutes after the revision after the next has reached all", async () => {
  const { fleet, first } = await started();
  await roll(fleet);
  await fleet.publish("1.2.5");
  await roll(fleet);
  assert.ok(isStored(fleet, first));

  await fleet.pass(graceMs);

  assert.equal(isStored(fleet, first), false);
});

test("[3.7 no. 13] what a rollout that is superseded pins and no cluster has is collected", async () => {
  const { fleet } = await started();
  const pinned = fleet.current().spec.targets[0]?.deploymentID ?? "";
  fleet.fails("ams");
  await fleet.pass();
  assert.equal(fleet.status().phase, "Halted");
  await fleet.publish("1.2.5");
  await roll(fleet);
  await fleet.publish("1.2.6");
  await roll(fleet);

  await fleet.pass(graceMs);

  assert.equal(isStored(fleet, pinned), false);
});
