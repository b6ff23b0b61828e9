import assert from "node:assert/strict";
import { test } from "vitest";
import { strategyProblem } from "./strategy-problem.ts";

test("the fields of Fleet are accepted, and nothing is too", () => {
  assert.equal(strategyProblem(undefined), undefined);
  assert.equal(strategyProblem({}), undefined);
  assert.equal(strategyProblem({ maxUnavailable: "10%", maxNew: 5, partitions: [] }), undefined);
});

test("fields that protect clusters and that nothing follows are named", () => {
  const stages = [{ name: "canary", clusterGroup: "canaries" }];
  assert.match(
    strategyProblem({ stages, onFailure: "Rollback" }) ?? "",
    /^spec\.rolloutStrategy\.stages, spec\.rolloutStrategy\.onFailure are not supported .*; remove them$/,
  );
  assert.match(
    strategyProblem({ policy: "rings" }) ?? "",
    /^spec\.rolloutStrategy\.policy is not supported .*; remove it$/,
  );
});
