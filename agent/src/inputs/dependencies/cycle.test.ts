import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { cycleThrough, describeCycle } from "./cycle.ts";

type Graph = Readonly<Record<string, readonly string[]>>;

const cases: readonly (readonly [
  what: string,
  graph: Graph,
  cycle: readonly string[] | undefined,
])[] = [
  ["waits for nothing", {}, undefined],
  ["waits for one that waits for nothing", { a: ["b"] }, undefined],
  ["waits for itself", { a: ["a"] }, ["a", "a"]],
  ["waits for one that waits for it", { a: ["b"], b: ["a"] }, ["a", "b", "a"]],
  ["is in a longer cycle", { a: ["b"], b: ["c"], c: ["a"] }, ["a", "b", "c", "a"]],
  ["is in several", { a: ["b", "d"], b: ["c"], c: ["a"], d: ["a"] }, ["a", "d", "a"]],
  ["waits for a cycle that it is not part of", { a: ["b"], b: ["c"], c: ["b"] }, undefined],
  ["waits twice for the same", { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }, undefined],
  ["waits for what is not there", { a: ["b"], b: ["x"] }, undefined],
];

describe("a deployment that", () => {
  for (const [what, graph, cycle] of cases)
    test(`${what} is in ${cycle === undefined ? "no cycle" : cycle.join(" → ")}`, () => {
      assert.deepEqual(
        cycleThrough("a", (name) => graph[name] ?? []),
        cycle,
      );
    });
});

test("a cycle is described by its names", () => {
  assert.equal(
    describeCycle(["a", "b", "a"]),
    "dependency cycle: a → b → a; remove one of them from a dependsOn",
  );
  const many = Array.from({ length: 20 }, (_, index) => `n${index}`);
  assert.match(describeCycle([...many, "n0"]), /: n0 → n1 → .* → n4 → 15 more → n0;/);
});
