import assert from "node:assert/strict";
import type { RolloutStrategy, Schedule, StageGate } from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { describe, test } from "vitest";
import { aBundle, aSchedule } from "../../testing/index.ts";
import { createMissingReferences } from "./missing-references.ts";

/** The Schedule nights exists, and the app base can be waited for. `policy`: the strategy is that of this RolloutPolicy. */
function remarksOn(strategy: RolloutStrategy, policy?: string): readonly string[] {
  const schedules = createStore<Schedule>();
  schedules.set(aSchedule("nights"));
  const references = createMissingReferences({
    schedules,
    strategies: { strategyOf: () => strategy },
    awaited: {
      problemOf: (_, { kind, name }) =>
        name === "base" ? undefined : `there is no ${kind} ${name}`,
    },
  });
  return references.remarksOn(aBundle({ rolloutStrategy: policy ? { policy } : strategy }));
}

function inGate(gate: Omit<StageGate, "name">): RolloutStrategy {
  return { stages: [{ name: "canary" }, { name: "rest", after: [{ name: "gate", ...gate }] }] };
}

function inWindows(schedule: string, deny = false): RolloutStrategy {
  return { stages: [{ name: "all", windows: [{ schedule: "nights" }, { schedule, deny }] }] };
}

const none =
  "is days, and there is no Schedule days in namespace fleet-default: create it, or change the field; until then";

describe("what a strategy names and does not exist is named with its field:", () => {
  for (const [what, strategy, remark] of [
    [
      "the Schedule of a window",
      inWindows("days"),
      `stages[0].windows[1].schedule ${none} it permits none`,
    ],
    [
      "the Schedule of a window that denies",
      inWindows("days", true),
      `stages[0].windows[1].schedule ${none} it denies all changes`,
    ],
    [
      "the Schedule of a gate",
      inGate({ window: { schedule: "days" } }),
      `stages[1].after[0].window.schedule ${none} the gate does not pass`,
    ],
    [
      "the app of a gate",
      inGate({ rollout: { kind: "HelmOp", name: "gone" } }),
      "stages[1].after[0].rollout cannot pass: there is no HelmOp gone",
    ],
  ] as const)
    test(what, () => {
      assert.deepEqual(remarksOn(strategy), [`spec.rolloutStrategy.${remark}`]);
    });
});

test("a field of a RolloutPolicy is named as one of that", () => {
  assert.deepEqual(remarksOn(inGate({ rollout: { kind: "HelmOp", name: "gone" } }), "rings"), [
    "spec.stages[1].after[0].rollout of the RolloutPolicy rings cannot pass: there is no HelmOp gone",
  ]);
});

test("nothing is said about what exists, and about a strategy without stages", () => {
  for (const strategy of [
    inWindows("nights"),
    inGate({ rollout: { kind: "HelmOp", name: "base" } }),
    inGate({ soak: { for: "1h" } }),
    { maxUnavailable: 1 },
  ])
    assert.deepEqual(remarksOn(strategy), []);
});

test("at most ten fields are named", () => {
  const windows = Array.from({ length: 4 }, () => ({ schedule: "days" }));
  const stages = ["a", "b", "c"].map((name) => ({ name, windows }));

  const remarks = remarksOn({ stages });

  assert.equal(remarks.length, 11);
  assert.equal(remarks.at(-1), "2 more fields of the strategy name what is not there");
});
