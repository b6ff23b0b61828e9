/** Which strategies let everything through, so that nothing has to be planned. */
import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { partitionsOf, type RolloutStrategy } from "./partitions.ts";
import { isLimiting, mayHold } from "./plan-partitions.ts";

describe("a strategy limits nothing", () => {
  const rows: readonly (readonly [string, RolloutStrategy, number, boolean])[] = [
    ["when it is empty", {}, 1_000, true],
    ["with as many unavailable clusters as there are", { maxUnavailable: 1_000 }, 1_000, true],
    ["with 100%", { maxUnavailable: "100%", autoPartitionSize: "10%" }, 1_000, true],
    ["with fewer: it does", { maxUnavailable: "99%" }, 1_000, false],
    ["with maxNew: it does", { maxNew: 5_000 }, 1_000, false],
    ["without clusters", { maxUnavailable: 0 }, 0, true],
  ];
  for (const [what, strategy, count, limitsNothing] of rows)
    test(what, () => {
      assert.equal(isLimiting(strategy, count, partitionsOf(strategy, count, [])), !limitsNothing);
      assert.equal(mayHold(strategy, count), !limitsNothing);
    });

  test("with partitions that have no limit and take every cluster", () => {
    const strategy = { partitions: [{}] };
    assert.equal(isLimiting(strategy, 2, partitionsOf(strategy, 2, [[0, 1]])), false);
    assert.equal(isLimiting(strategy, 2, partitionsOf(strategy, 2, [[0]])), true);
  });
});
