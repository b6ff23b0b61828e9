import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { groupPlans, mostGroups } from "./group-plans.ts";
import type { PlanOutcome } from "./plan-outcome.ts";
import { aDigest, known } from "./testing/index.ts";

const offline: PlanOutcome = { kind: "unknown", reason: "Offline", message: "since noon" };
const outdated: PlanOutcome = { kind: "unknown", reason: "Outdated", message: "0.3.0" };

function grouped(outcomes: Readonly<Record<string, PlanOutcome>>) {
  return groupPlans(new Map(Object.entries(outcomes)));
}

describe("groups of plans", () => {
  test("have the clusters with one diff, the largest first, and by name", () => {
    const { groups, digests, unchanged, unknown } = grouped({
      "ns/d": known("image"),
      "ns/a": known("replicas"),
      "ns/c": known("image"),
      "ns/b": known("image"),
      "ns/e": known(""),
    });

    assert.deepEqual(
      groups.map(({ clusters, sample }) => [clusters, sample]),
      [
        [["ns/b", "ns/c", "ns/d"], "ns/b"],
        [["ns/a"], "ns/a"],
      ],
    );
    assert.deepEqual(digests, [aDigest("image"), aDigest("replicas")].sort());
    assert.deepEqual(unchanged, ["ns/e"]);
    assert.deepEqual(unknown, []);
  });

  const unknowns: readonly (readonly [string, PlanOutcome])[] = [
    ["is offline", offline],
    ["is older", outdated],
    ["has failed", { kind: "unknown", reason: "Failed", message: "no answer" }],
  ];
  for (const [name, outcome] of unknowns)
    test(`a cluster that ${name} is named, and is neither changed nor unchanged`, () => {
      const { groups, unchanged, unknown } = grouped({ "ns/a": outcome });

      assert.deepEqual([groups, unchanged], [[], []]);
      assert.equal(unknown.length, 1);
      assert.deepEqual(unknown[0]?.clusters, ["ns/a"]);
    });

  test("what is not known is listed by reason", () => {
    const { unknown } = grouped({ "ns/a": outdated, "ns/b": offline, "ns/c": offline });

    assert.deepEqual(
      unknown.map(({ reason, clusters }) => [reason, clusters]),
      [
        ["Offline", ["ns/b", "ns/c"]],
        ["Outdated", ["ns/a"]],
      ],
    );
  });

  test("a cluster whose upgrade would fail is a change, with its own digest", () => {
    const { groups, unchanged } = grouped({
      "ns/a": known("same", { result: "fails", code: "PLAN_FAILED" }),
    });

    assert.equal(groups[0]?.result.code, "PLAN_FAILED");
    assert.deepEqual(unchanged, []);
  });

  function different(count: number, shapeOf: (index: number) => string) {
    return Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `ns/c${String(index).padStart(3, "0")}`,
        known(`diff ${index}`, { shape: aDigest(shapeOf(index)) }),
      ]),
    );
  }

  test("up to the limit each diff is a group of its own", () => {
    const { groups } = grouped(different(mostGroups, () => "one"));

    assert.equal(groups.length, mostGroups);
  });

  test("beyond the limit those of one shape are folded, and each digest is kept", () => {
    const { groups, digests } = grouped(
      different(mostGroups + 10, (index) => (index < 8 ? "few" : "many")),
    );

    assert.deepEqual(
      groups.map((group) => [group.clusters.length, group.digests.length]),
      [
        [mostGroups + 2, mostGroups + 2],
        [8, 8],
      ],
    );
    assert.equal(digests.length, mostGroups + 10);
  });

  test("what would fail is not folded with what would not", () => {
    const { groups } = grouped({
      ...different(mostGroups, () => "one"),
      "ns/x": known("x", { result: "fails", shape: aDigest("one") }),
    });

    assert.deepEqual(
      groups.map(({ result }) => result.result),
      ["changes", "fails"],
    );
  });

  test("of no outcomes are none", () => {
    assert.deepEqual(grouped({}), { groups: [], digests: [], unchanged: [], unknown: [] });
  });
});
