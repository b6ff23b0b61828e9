import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type Correction, correctionsOf, planCorrection } from "./back-off.ts";
import type { ObjectDrift } from "./drift.ts";

const minute = 60_000;
const nowMs = 100 * minute;
const object = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const drift: ObjectDrift = {
  ...{ object, what: "changed" },
  fields: [{ pointer: "/spec/replicas", manager: "autoscaler" }, { pointer: "/spec/paused" }],
};

function corrected(pointer: string, ...minutesAgo: readonly number[]): readonly Correction[] {
  return minutesAgo.flatMap((ago) =>
    correctionsOf({ ...drift, fields: [{ pointer }] }, nowMs - ago * minute),
  );
}

const replicas = { pointer: "/spec/replicas", manager: "autoscaler" };

describe("an object with two changed fields", () => {
  const cases: readonly (readonly [
    what: string,
    corrections: readonly Correction[],
    corrects: boolean,
    backedOff: readonly { readonly pointer: string; readonly untilMs: number }[],
  ])[] = [
    ["is corrected the first time", [], true, []],
    ["is corrected a third time", corrected("/spec/replicas", 2, 1), true, []],
    [
      "keeps a field that was corrected three times in ten minutes",
      corrected("/spec/replicas", 9, 8, 1),
      true,
      [{ ...replicas, untilMs: nowMs + minute }],
    ],
    [
      "counts from the third last correction",
      corrected("/spec/replicas", 9, 8, 2, 1),
      true,
      [{ ...replicas, untilMs: nowMs + 2 * minute }],
    ],
    ["is corrected again once one is older", corrected("/spec/replicas", 10, 8, 1), true, []],
    [
      "is left as it is when both were",
      [...corrected("/spec/replicas", 3, 2, 1), ...corrected("/spec/paused", 3, 2, 1)],
      false,
      [
        { ...replicas, untilMs: nowMs + 7 * minute },
        { pointer: "/spec/paused", untilMs: nowMs + 7 * minute },
      ],
    ],
    [
      "does not count corrections of another object",
      corrected("/spec/replicas", 3, 2, 1).map((each) => ({ ...each, object: "other" })),
      true,
      [],
    ],
  ];
  for (const [what, corrections, corrects, backedOff] of cases)
    test(what, () => {
      const plan = planCorrection(drift, corrections, nowMs);

      assert.equal(plan.corrects, corrects);
      assert.deepEqual(
        plan.backedOff.map(({ manager, ...each }) => (manager ? { ...each, manager } : each)),
        backedOff,
      );
    });
});

test("an object that is deleted again and again counts as a whole", () => {
  const missing: ObjectDrift = { object, what: "missing", fields: [] };
  const corrections = [3, 2, 1].flatMap((ago) => correctionsOf(missing, nowMs - ago * minute));

  assert.equal(planCorrection(missing, corrections.slice(1), nowMs).corrects, true);
  assert.equal(planCorrection(missing, corrections, nowMs).corrects, false);
});
