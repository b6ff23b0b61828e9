import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { DeploymentResult } from "../../observe/report/deployment-state.ts";
import type { Progress } from "./progress.ts";
import { passProgress, resultNow, runningText, untilDueMs } from "./running.ts";

const failed = {
  kind: "failed",
  ...{ deploymentId: "sha256:1", code: "HELM_FAILED", message: "the hook failed" },
  retryAt: "2026-01-01T00:00:00Z",
} as const satisfies DeploymentResult;

const retryAtMs = Date.parse("2026-01-01T00:00:00Z");

function setUp(own: Progress, failures = 0) {
  const clock = createFakeClock();
  const reports: (string | undefined)[] = [];
  const statuses = { report: () => void reports.push(own.running && runningText(own.running)) };
  return { clock, reports, pass: passProgress({ statuses, clock }, "web", own, () => failures) };
}

describe("between two attempts", () => {
  const retrying = "; retrying at 2026-01-01T00:00:00Z";
  const isDue =
    "; the next attempt is due since 2026-01-01T00:00:00Z, and begins as soon as the agent has a free worker";
  test.each([
    ["names the time of the next one", -60_000, retrying, 63_000],
    ["names it while the next one begins", 2_000, retrying, 1_000],
    ["says that it is due once others keep it waiting", 3_000, isDue, undefined],
    ["says so as long as it waits", 240_000, isDue, undefined],
  ] as const)("the result of one %s", (_, sinceRetryMs, text, leftMs) => {
    const { retryAt } = failed;
    const now = retryAtMs + sinceRetryMs;
    const results = [
      failed,
      { kind: "pending", message: "the hook failed", retryAt },
      { kind: "withdrawing", message: "the hook failed", code: "HELM_FAILED", retryAt },
    ] as const;
    for (const result of results) {
      const message = `the hook failed${text}`;
      assert.deepEqual(resultNow(result, undefined, now), { ...result, message });
      assert.equal(untilDueMs(result, now), leftMs);
    }
  });

  test("a result names no time where nothing is retried before a change", () => {
    const { retryAt: _, ...stopped } = failed;
    for (const result of [stopped, { kind: "pending", message: "paused" }] as const) {
      assert.deepEqual(resultNow(result, undefined, retryAtMs), result);
      assert.equal(untilDueMs(result, retryAtMs), undefined);
    }
  });
});

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
    assert.deepEqual(resultNow(failed, running, retryAtMs), {
      ...{ kind: "failed", deploymentId: "sha256:1", code: "HELM_FAILED" },
      message:
        "attempt 2 of the upgrade is running since 1970-01-01T00:00:05Z; before: the hook failed",
    });
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
