import assert from "node:assert/strict";
import { test } from "vitest";
import { strategyProblem } from "./strategy-problem.ts";

test("the fields of Fleet are accepted, and nothing is too", () => {
  assert.equal(strategyProblem(undefined), undefined);
  assert.equal(strategyProblem({}), undefined);
  assert.equal(strategyProblem({ maxUnavailable: "10%", maxNew: 5, partitions: [] }), undefined);
});
