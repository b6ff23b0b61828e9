import assert from "node:assert/strict";
import { test } from "vitest";
import { endOf } from "./rollout-end.ts";
import { aRollout } from "./testing/index.ts";

test.for([
  ["Progressing", undefined, "running"],
  ["Waiting", "GateWaiting", "running"],
  ["RollingBack", "TooManyFailures", "running"],
  ["Completed", "AllStagesCompleted", "completed"],
  ["RolledBack", "Requested", "failed"],
  ["Cancelled", "Requested", "failed"],
  ["Superseded", "StableRequested", "failed"],
  ["Superseded", "NewerRevision", "replaced"],
] as const)("a rollout that is %s with the reason %s is %s", ([phase, reason, kind]) => {
  const rollout = aRollout({ status: { phase, ...(reason !== undefined && { reason }) } });

  assert.equal(endOf(rollout).kind, kind);
});

const breach = {
  stage: "all",
  cause: "Failures",
  action: "Halt",
  at: "2026-12-01T09:00:00Z",
  failed: 1,
  maxFailures: 0,
} as const;

test.for([
  ["Halted", { state: "Halted" }, {}, "failed"],
  ["Halted", {}, { breach }, "failed"],
  ["Halted", { resume: "1" }, { breach, handledResume: "1" }, "failed"],
  ["Halted", { state: "Halted", resume: "2" }, { breach }, "failed"],
  ["Halted", { resume: "2" }, { breach, handledResume: "1" }, "running"],
  ["Halted", { state: "Running" }, {}, "running"],
  ["Halted", { state: "RolledBack" }, { breach }, "running"],
  ["Halted", { state: "Cancelled" }, { breach }, "running"],
  ["Completed", { state: "RolledBack" }, {}, "running"],
  ["Completed", { state: "Cancelled" }, {}, "completed"],
] as const)("one that is %s, asked for %j and has %j is %s", ([phase, spec, status, kind]) => {
  assert.equal(endOf(aRollout({ spec, status: { phase, ...status } })).kind, kind);
});

test("one of which the hub has made no step is not over", () => {
  const { status: _, ...rollout } = aRollout({});

  assert.equal(endOf(rollout).kind, "running");
});
