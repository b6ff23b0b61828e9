import assert from "node:assert/strict";
import { test } from "vitest";
import { describeProgress, type Progress, warningIn } from "./progress.ts";

const none: Progress = {
  agents: 20,
  connected: 0,
  deployments: { ready: 0, failed: 0, other: 0 },
  trouble: "",
};

for (const [what, progress, expected] of [
  ["nothing but agents", { connected: 20 }, "20 of 20 agents connected"],
  [
    "deployments",
    { connected: 20, deployments: { ready: 3, failed: 0, other: 1 } },
    "20 of 20 agents connected, 3 of 4 deployments ready",
  ],
  [
    "failures",
    { connected: 20, deployments: { ready: 3, failed: 2, other: 0 }, trouble: "a: it failed" },
    "20 of 20 agents connected, 3 of 5 deployments ready, 2 failed; last warning: a: it failed",
  ],
  [
    "agents that are away",
    { connected: 7, trouble: "a: no route" },
    "7 of 20 agents connected; last warning: a: no route",
  ],
  ["trouble that is over", { connected: 20, trouble: "a: no route" }, "20 of 20 agents connected"],
] as const) {
  test(`the line tells of ${what}`, () => {
    assert.equal(describeProgress({ ...none, ...progress }), expected);
  });
}

test("a warning is told with whose it is and what came back", () => {
  const line = JSON.stringify({ level: "warn", agent: "a-1", err: "no route", msg: "not there" });

  assert.equal(warningIn(line), "a-1: not there: no route");
  assert.equal(warningIn(JSON.stringify({ level: "info", msg: "connected" })), undefined);
});
