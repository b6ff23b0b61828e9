import assert from "node:assert/strict";
import type { RolloutStage } from "@flotilla/shared/api";
import { describe, expect, test } from "vitest";
import {
  assignStages,
  atLeastOne,
  isStaged,
  roundedDown,
  roundedUp,
  type StagedCluster,
} from "./stages.ts";

function aStagedCluster(name: string, labels: Record<string, string> = {}): StagedCluster {
  return { key: `fleet-default/${name}`, name, labels };
}

/** The names that each stage takes; those that none takes under "". */
function taken(
  stages: readonly RolloutStage[],
  clusters: readonly StagedCluster[],
): Record<string, readonly string[]> {
  const assigned = assignStages(stages, clusters, []);
  const names: Record<string, string[]> = {};
  for (const { key, name } of clusters) {
    const stage = assigned.get(key) ?? "";
    names[stage] = [...(names[stage] ?? []), name];
  }
  return names;
}

describe("the stages of a strategy", () => {
  test("each take the clusters that they match, the first one that does", () => {
    const clusters = [
      aStagedCluster("a", { canary: "true", env: "prod" }),
      aStagedCluster("b", { env: "prod" }),
      aStagedCluster("c"),
    ];

    const stages = [
      { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } },
      { name: "prod", clusterSelector: { matchLabels: { env: "prod" } } },
    ];

    expect(taken(stages, clusters)).toEqual({ canary: ["a"], prod: ["b"], "": ["c"] });
  });

  test("take all that are left without criteria", () => {
    const stages = [{ name: "one", clusterName: "b" }, { name: "rest" }];

    expect(
      taken(
        stages,
        ["a", "b", "c"].map((name) => aStagedCluster(name)),
      ),
    ).toEqual({
      one: ["b"],
      rest: ["a", "c"],
    });
  });

  test("leave to the next stage what is more than upTo, by name", () => {
    const clusters = ["c", "a", "b"].map((name) => aStagedCluster(name));

    expect(taken([{ name: "wave", upTo: 1 }, { name: "rest" }], clusters)).toEqual({
      wave: ["a"],
      rest: ["c", "b"],
    });
  });

  test("25 clusters, upTo 10%, spreadBy region (a 20, b 5): takes one of a, one of b, one of a", () => {
    const clusters = Array.from({ length: 25 }, (_, index) =>
      aStagedCluster(`c${String(index).padStart(2, "0")}`, { region: index < 20 ? "a" : "b" }),
    );

    const { wave } = taken([{ name: "wave", upTo: "10%", spreadBy: "region" }], clusters);

    assert.deepEqual(wave, ["c00", "c01", "c20"]);
  });
});

test.each([
  ["10%", 5, 1],
  ["10%", 11, 2],
  ["10%", 10, 1],
  ["100%", 7, 7],
  ["0%", 7, 1],
  [3, 2, 2],
  ["0.1%", 5_000, 5],
  ["30%", 10, 3],
] as const)("upTo %s of %s clusters is %s: rounded up, at least 1", (value, total, expected) => {
  assert.equal(roundedUp(value, total), expected);
});

test.each([
  ["2%", 30, 0],
  ["2%", 50, 1],
  ["100%", 0, 0],
  [5, 2, 5],
  ["5", 2, 5],
  ["33.3%", 3, 0],
  ["33.4%", 3, 1],
] as const)("maxFailures %s of %s clusters is %s: rounded down", (value, total, expected) => {
  assert.equal(roundedDown(value, total), expected);
});

test.each([
  [undefined, 10, 10],
  [undefined, 0, 1],
  [2, 10, 2],
  ["14.3%", 7, 1],
  ["25%", 230, 57],
  ["0%", 10, 1],
  ["1%", 99, 1],
  [15, 10, 10],
] as const)("maxUnavailable %s of %s clusters is %s: at least 1", (value, total, expected) => {
  assert.equal(atLeastOne(value, total), expected);
});

test.each([
  [undefined, false],
  [null, false],
  [{}, false],
  [{ maxUnavailable: 1 }, false],
  [{ stages: [{ name: "a" }] }, true],
  [{ maxFailures: 0 }, true],
  [{ onFailure: "Halt" }, true],
] as const)("the strategy %j is staged: %s", (strategy, expected) => {
  assert.equal(isStaged(strategy), expected);
});
