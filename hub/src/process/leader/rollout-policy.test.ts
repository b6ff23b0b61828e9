/** Apps that name a RolloutPolicy, by the controllers of a leader on an API server in memory. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import { type RolloutPolicy, rolloutPolicies } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { onTestFinished, test } from "vitest";
import { workspace } from "../../testing/index.ts";
import { bundleStatusOf, createStagedFleet, type StagedFleet } from "./testing/index.ts";

const canaryFirst: RolloutPolicy["spec"] = {
  stages: [
    { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } },
    { name: "rest", maxUnavailable: 1 },
  ],
};

function aPolicy(spec: RolloutPolicy["spec"], generation = 1): RolloutPolicy {
  return {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "RolloutPolicy",
    metadata: { name: "rings", namespace: workspace, uid: "uid-rings", generation },
    spec,
  };
}

async function start(
  policy: RolloutPolicy | undefined,
  strategy: RolloutStrategy = { policy: "rings" },
): Promise<StagedFleet> {
  const labels = { ams: { canary: "true" }, ber: {}, cgn: {}, dus: {} };
  const fleet = await createStagedFleet(strategy, labels, {
    begin({ rest }) {
      if (policy !== undefined) rest.put(rolloutPolicies, policy);
    },
  });
  onTestFinished(() => fleet.stop());
  return fleet;
}

function acceptedOf(fleet: StagedFleet) {
  return findCondition(bundleStatusOf(fleet)?.conditions, "Accepted");
}

test("the strategy of a RolloutPolicy is that of each app which names it", async () => {
  const fleet = await start(aPolicy(canaryFirst));

  assert.deepEqual(fleet.having("1.2.3"), ["ams"]);
  fleet.ready();
  await fleet.pass();

  assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber"]);
});

test("an app whose RolloutPolicy does not exist is not accepted, and goes on when it appears", async () => {
  const fleet = await start(undefined);

  assert.deepEqual(fleet.having("1.2.3"), []);
  const { status, message } = acceptedOf(fleet) ?? {};
  assert.equal(status, "False");
  assert.equal(
    message,
    "there is no RolloutPolicy rings in namespace fleet-default: create it, or change spec.rolloutStrategy.policy; until then nothing changes",
  );
  assert.equal(bundleStatusOf(fleet)?.rejectedCode, "ROLLOUT_POLICY_INVALID");
  fleet.leader.rest.put(rolloutPolicies, aPolicy(canaryFirst));
  await fleet.pass();

  assert.equal(acceptedOf(fleet)?.status, "True");
  assert.deepEqual(fleet.having("1.2.3"), ["ams"]);
});

test("an app whose RolloutPolicy cannot be used is not accepted, with its name and field, until it is corrected", async () => {
  const wrong = { stages: [{ name: "all", windows: [{ cron: "0 0 25 * * ?", duration: "1h" }] }] };
  const fleet = await start(aPolicy(wrong));

  assert.deepEqual(fleet.having("1.2.3"), []);
  assert.equal(
    acceptedOf(fleet)?.message,
    "the RolloutPolicy rings cannot be used: spec.stages[0].windows[0] cannot be used: the hour 25 is not between 0 and 23; correct it; until then nothing changes",
  );
  fleet.leader.rest.put(rolloutPolicies, aPolicy(canaryFirst, 2));
  await fleet.pass();

  assert.deepEqual(fleet.having("1.2.3"), ["ams"]);
});

test("a limit that is changed in the RolloutPolicy applies at once, to the rollout that runs", async () => {
  const fleet = await start(aPolicy(canaryFirst));
  fleet.ready();
  await fleet.pass();
  assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber"]);
  const before = fleet.rollouts().length;
  const [canary] = canaryFirst.stages ?? [];
  assert.ok(canary);

  const wider = { stages: [canary, { name: "rest", maxUnavailable: 3 }] };
  fleet.leader.rest.put(rolloutPolicies, aPolicy(wider, 2));
  await fleet.pass();

  assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber", "cgn", "dus"]);
  assert.equal(fleet.rollouts().length, before);
});

test("a RolloutPolicy that is deleted in mid rollout holds the app as it is", async () => {
  const fleet = await start(aPolicy(canaryFirst));
  assert.deepEqual(fleet.having("1.2.3"), ["ams"]);

  fleet.leader.rest.remove(rolloutPolicies, { namespace: workspace, name: "rings" });
  await fleet.pass();
  fleet.ready();
  await fleet.pass();

  assert.deepEqual(fleet.having("1.2.3"), ["ams"]);
  assert.equal(acceptedOf(fleet)?.status, "False");
});
