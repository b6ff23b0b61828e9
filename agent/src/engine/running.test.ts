import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { DeploymentResult } from "../report/index.ts";
import type { Progress } from "./progress.ts";
import { passProgress, runningText, whileRunning } from "./running.ts";

const failed: DeploymentResult = {
  kind: "failed",
  ...{ deploymentId: "sha256:1", code: "HELM_FAILED", cause: "the hook failed" },
  ...{ message: "the hook failed; retrying at 2026-01-01T00:00:00Z" },
  retryAt: "2026-01-01T00:00:00Z",
};

function setUp(own: Progress, failures = 0) {
  const clock = createFakeClock();
  const reports: (string | undefined)[] = [];
  const statuses = { report: () => void reports.push(own.running && runningText(own.running)) };
  return { clock, reports, pass: passProgress({ statuses, clock }, "web", own, () => failures) };
}

describe("while an action runs", () => {
  test.each([
    [{ action: "upgrade", attempt: 1 }, "the upgrade is running since 1970-01-01T00:00:05Z"],
    [
      { action: "install", attempt: 2 },
      "attempt 2 of the installation is running since 1970-01-01T00:00:05Z",
    ],
    [{ action: "rollback", attempt: 3 }, "the rollback is running since 1970-01-01T00:00:05Z"],
    [{ action: "test", attempt: 1 }, "the tests are running since 1970-01-01T00:00:05Z"],
  ] as const)("%s", (what, expected) => {
    assert.equal(runningText({ ...what, sinceMs: 5_000 }), expected);
  });

  test("a failure stays reported, without a time of a retry, which has passed", () => {
    const running = { action: "upgrade", attempt: 2, sinceMs: 5_000 } as const;
    assert.deepEqual(whileRunning(failed, running), {
      ...{
        kind: "failed",
        deploymentId: "sha256:1",
        code: "HELM_FAILED",
        cause: "the hook failed",
      },
      message:
        "attempt 2 of the upgrade is running since 1970-01-01T00:00:05Z; before: the hook failed",
    });
    assert.deepEqual(whileRunning(failed, undefined), failed);
  });

  test("an attempt after a failure is reported at once, with its number", () => {
    const { pass, reports } = setUp({ result: failed }, 2);
    pass.began("upgrade");
    assert.match(reports.join(), /^attempt 3 of the upgrade is running since /);
  });

  test("another one is reported only once it takes long", async () => {
    const own: Progress = { result: { kind: "pending", message: "" } };
    const { pass, reports, clock } = setUp(own);
    pass.began("install");
    await clock.advance(2_000);
    pass.ended();
    await clock.advance(10_000);
    assert.deepEqual([reports, own.running], [[], undefined]);

    pass.began("install");
    await clock.advance(3_000);
    assert.match(reports.join(), /^the installation is running since /);
  });
});
