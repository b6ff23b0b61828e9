import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { AppError } from "@flotilla/shared/errors";
import { test } from "vitest";
import {
  describeProgress,
  openFilesLimit,
  type Progress,
  validateOpenFiles,
  warningIn,
} from "./run-agents.ts";

const none: Progress = {
  agents: 20,
  connected: 0,
  deployments: { ready: 0, failed: 0, other: 0 },
  lastWarning: "",
};

for (const [what, progress, expected] of [
  ["only agents without deployments", { connected: 20 }, "20 of 20 agents connected"],
  [
    "deployments",
    { connected: 20, deployments: { ready: 3, failed: 0, other: 1 } },
    "20 of 20 agents connected, 3 of 4 deployments ready",
  ],
  [
    "failures",
    { connected: 20, deployments: { ready: 3, failed: 2, other: 0 }, lastWarning: "a: it failed" },
    "20 of 20 agents connected, 3 of 5 deployments ready, 2 failed; last warning: a: it failed",
  ],
  [
    "offline agents",
    { connected: 7, lastWarning: "a: no route" },
    "7 of 20 agents connected; last warning: a: no route",
  ],
  [
    "no warning once all agents are connected",
    { connected: 20, lastWarning: "a: no route" },
    "20 of 20 agents connected",
  ],
] as const) {
  test(`progress shows ${what}`, () => {
    assert.equal(describeProgress({ ...none, ...progress }), expected);
  });
}

test("a warning has the agent, the message and the error", () => {
  const line = JSON.stringify({ level: "warn", agent: "a-1", err: "no route", msg: "not there" });

  assert.equal(warningIn(line), "a-1: not there: no route");
  assert.equal(warningIn(JSON.stringify({ level: "info", msg: "connected" })), undefined);
});

test("rejects more agents than open files allow, with the command that raises the limit", () => {
  assert.throws(
    () => validateOpenFiles(5_000, 1_024),
    (thrown) =>
      AppError.from(thrown).code === "OPEN_FILES_LIMIT" &&
      AppError.from(thrown).message.includes("`ulimit -n 5100`"),
  );
});

test("allows agents within the limit, and any number without a limit", () => {
  assert.doesNotThrow(() => validateOpenFiles(924, 1_024));
  assert.throws(() => validateOpenFiles(925, 1_024));
  assert.doesNotThrow(() => validateOpenFiles(5_000, undefined));
});

test("the limit of open files is the one that the shell reports", () => {
  const reported = execFileSync("/bin/sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim();

  assert.equal(openFilesLimit(), reported === "unlimited" ? undefined : Number(reported));
});
