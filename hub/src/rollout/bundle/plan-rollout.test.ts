import assert from "node:assert/strict";
import { test } from "vitest";
import { aBundle, aCluster } from "../../testing/index.ts";
import { planRollout } from "./plan-rollout.ts";
import { placed } from "./testing/index.ts";

const paused = aCluster("paris", { spec: { paused: true } });

test.each([
  ["lets everything through", aBundle(), placed(aCluster("paris")), undefined],
  [
    "holds a suspended target",
    aBundle(),
    { ...placed(aCluster("paris")), isSuspended: true },
    "suspended",
  ],
  ["holds a paused Bundle", aBundle({ paused: true }), placed(aCluster("paris")), "paused"],
  ["holds a paused cluster", aBundle(), placed(paused), "clusterPaused"],
  [
    "names what lasts longest",
    aBundle({ paused: true }),
    { ...placed(paused), isSuspended: true },
    "suspended",
  ],
] as const)("a rollout %s", (_, bundle, placement, hold) => {
  assert.deepEqual(planRollout(bundle, [placement], { isOffSchedule: () => false }), [
    { placement, hold },
  ]);
});

test.each([
  ["a cluster outside of its windows", aBundle(), aCluster("paris"), "offSchedule"],
  ["a paused one as paused, which no window ends", aBundle(), paused, "clusterPaused"],
] as const)("a rollout holds %s", (_, bundle, cluster, hold) => {
  const steps = planRollout(bundle, [placed(cluster), placed(aCluster("rome"))], {
    isOffSchedule: (each) => each === cluster,
  });

  assert.deepEqual(
    steps.map((step) => step.hold),
    [hold, undefined],
  );
});
