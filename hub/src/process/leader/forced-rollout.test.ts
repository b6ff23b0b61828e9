/** `flotilla reconcile --force` of an app with stages, by leaders on an API server in memory: under the limits, without gates. */
import assert from "node:assert/strict";
import { bundleDeployments, helmOps, type RolloutStrategy } from "@flotilla/shared/api";
import { forceRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { onTestFinished, test } from "vitest";
import { workspace } from "../../testing/index.ts";
import { createStagedFleet, type StagedFleet } from "./testing/index.ts";

const strategy: RolloutStrategy = {
  stages: [
    { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } },
    { name: "rest", maxUnavailable: 2, before: [{ name: "board", approval: {} }] },
  ],
};
const labels = { ams: { canary: "true" }, ber: {}, cgn: {}, dus: {} };
const names = Object.keys(labels);

/** 1.2.3 is everywhere. */
async function started(): Promise<StagedFleet> {
  const fleet = await createStagedFleet(strategy, labels);
  onTestFinished(() => fleet.stop());
  fleet.ready();
  await fleet.pass();
  fleet.decide("board");
  for (let round = 0; round < 3; round += 1) {
    await fleet.pass();
    fleet.ready();
  }
  await fleet.pass();
  assert.equal(fleet.status().phase, "Completed");
  return fleet;
}

function force({ leader: { rest } }: StagedFleet, token: string): void {
  const helmOp = rest.peek(helmOps, { namespace: workspace, name: "web" });
  assert.ok(helmOp);
  const annotations = { [reconcileRequestAnnotation]: token, [forceRequestAnnotation]: token };
  rest.put(helmOps, { ...helmOp, metadata: { ...helmOp.metadata, annotations } });
}

/** Those that have been asked with this token and have not answered. */
function asked(fleet: StagedFleet, token: string): readonly string[] {
  return names.filter((name) => {
    const { spec, status } = fleet.deployment(name) ?? {};
    return spec?.forceAt === token && status?.lastRequest?.token !== token;
  });
}

/** The agents answer, and what Helm has upgraded is ready. */
function answer(fleet: StagedFleet, token: string): void {
  for (const name of asked(fleet, token)) {
    const deployment = fleet.deployment(name);
    assert.ok(deployment);
    const lastRequest = { token, result: "Upgraded", time: "2026-01-01T00:00:00Z" } as const;
    fleet.leader.rest.put(bundleDeployments, {
      ...deployment,
      status: { ...deployment.status, lastRequest },
    });
  }
}

test("it reaches the canary, then two at a time, and asks for no approval", async () => {
  const fleet = await started();
  const gates = fleet.gates().length;
  const order: (readonly string[])[] = [];

  force(fleet, "now");
  for (let round = 0; round < 4; round += 1) {
    await fleet.pass();
    order.push(asked(fleet, "now"));
    answer(fleet, "now");
  }

  assert.deepEqual(order, [["ams"], ["ber", "cgn"], ["dus"], []]);
  assert.equal(fleet.gates().length, gates);
});

test("it stops behind a canary that is not ready afterwards", async () => {
  const fleet = await started();
  force(fleet, "now");
  await fleet.pass();
  answer(fleet, "now");
  fleet.fails("ams");
  const deployment = fleet.deployment("ams");
  assert.ok(deployment);
  const lastRequest = { token: "now", result: "Failed" } as const;
  fleet.leader.rest.put(bundleDeployments, {
    ...deployment,
    status: { ...deployment.status, lastRequest },
  });
  await fleet.pass(60_000);

  assert.deepEqual(
    names.filter((name) => fleet.deployment(name)?.spec.forceAt === "now"),
    ["ams"],
  );
});

test("a cluster that is offline holds up nobody, and gets it when it is back, in its turn", async () => {
  const fleet = await started();
  fleet.setConnected("ams", false);
  fleet.setConnected("ber", false);
  await fleet.pass();
  force(fleet, "now");
  await fleet.pass();
  assert.deepEqual(asked(fleet, "now"), ["cgn", "dus"]);
  answer(fleet, "now");
  await fleet.pass();

  fleet.setConnected("ams", true);
  fleet.setConnected("ber", true);
  await fleet.pass();

  assert.deepEqual(asked(fleet, "now"), ["ams"]);
});

test("leaders that change meanwhile ask for no more than the limit", async () => {
  const fleet = await started();
  force(fleet, "now");
  for (let round = 0; round < 6; round += 1) {
    await fleet.leader.drop();
    await fleet.pass(1_000);
    assert.ok(asked(fleet, "now").length <= 2);
    if (round % 2 === 1) answer(fleet, "now");
  }
  for (let round = 0; round < 3; round += 1) {
    answer(fleet, "now");
    await fleet.pass();
  }

  assert.ok(names.every((name) => fleet.deployment(name)?.status?.lastRequest?.token === "now"));
});

test("a later request takes the place of one that is on its way", async () => {
  const fleet = await started();
  force(fleet, "one");
  await fleet.pass();
  force(fleet, "two");
  await fleet.pass();

  assert.deepEqual([asked(fleet, "one"), asked(fleet, "two")], [[], ["ams"]]);
});
