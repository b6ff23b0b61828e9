import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import { describe, test } from "vitest";
import { agentErrors } from "../../base/errors/agent-errors.ts";
import {
  accountFailures,
  countFailure,
  type Failure,
  hasFailedBy,
  resultUntilChange,
  retryDelayMs,
  untilRepeatedMs,
} from "./progress.ts";

describe("after a failure", () => {
  test("a deployment that waits for the hub is pending, not failed", () => {
    const pending = new AppError(agentErrors.REFERENCED_OBJECT_PENDING, "waiting for the Secret a");

    assert.deepEqual(resultUntilChange(pending, "sha256:1"), {
      kind: "pending",
      message: "waiting for the Secret a",
    });
  });

  for (const kind of [
    agentErrors.REFERENCED_OBJECT_NOT_FOUND,
    agentErrors.VALUES_TEMPLATE_FAILED,
  ]) {
    test(`${kind.code} is not retried before a change`, () => {
      assert.deepEqual(resultUntilChange(new AppError(kind, "no"), "sha256:1"), {
        kind: "failed",
        deploymentId: "sha256:1",
        message: "no",
        code: kind.code,
      });
    });
  }

  test("any other failure is retried with exponential backoff", () => {
    const failed = new AppError(agentErrors.HELM_FAILED, "helm upgrade: no");

    assert.equal(resultUntilChange(failed, "sha256:1"), undefined);
    assert.deepEqual([1, 2, 3, 50].map(retryDelayMs), [5_000, 10_000, 20_000, 300_000]);
  });

  test("the wait without retries left is an hour, then twice as long, however many attempts there were", () => {
    const failed = new AppError(agentErrors.HELM_FAILED, "no");
    const stop = new AppError(agentErrors.RETRIES_EXCEEDED, "no");
    let failure: Failure | undefined;
    const delays = [failed, failed, stop, failed, failed, failed, stop, failed].map((thrown) => {
      const { failed: next, inRow } = countFailure(failure, thrown);
      failure = { ...next, deploymentId: "sha256:1", retryAtMs: 0 };
      return retryDelayMs(inRow, thrown) / 1_000;
    });

    assert.deepEqual(delays, [5, 10, 3_600, 5, 10, 20, 7_200, 5]);
    assert.equal(failure?.isStop, undefined);
  });

  test("an uninstall is not repeated before its time, unless it failed for what may have changed", () => {
    const failure = { deploymentId: "sha256:1", count: 1, retryAtMs: 5_000 };
    const result = (code?: string) =>
      ({ kind: "withdrawing", message: "no", ...(code !== undefined && { code }) }) as const;

    assert.equal(
      untilRepeatedMs({ result: result("HELM_FAILED"), failure }, "sha256:1", 1_000),
      4_000,
    );
    assert.equal(untilRepeatedMs({ result: result("HELM_FAILED"), failure }, "sha256:1", 6_000), 0);
    assert.equal(untilRepeatedMs({ result: result("HELM_FAILED"), failure }, "sha256:2", 1_000), 0);
    assert.equal(untilRepeatedMs({ result: result("HELM_FAILED") }, "sha256:1", 1_000), 0);
    assert.equal(
      untilRepeatedMs({ result: result("RELEASE_LOCKED"), failure }, "sha256:1", 1_000),
      0,
    );
    assert.equal(untilRepeatedMs({ result: result(), failure }, "sha256:1", 1_000), 0);
    const failed = { kind: "failed", deploymentId: "sha256:1", message: "no" } as const;
    const deployFailure = { result: { ...failed, code: "HELM_FAILED" }, failure };
    assert.equal(untilRepeatedMs(deployFailure, "sha256:1", 1_000), 0, "it was not an uninstall");
  });

  test("a failure because of the service account is recognized, for a withdrawal too", () => {
    const { code } = agentErrors.SERVICE_ACCOUNT_MISSING;
    const failed = { kind: "failed", deploymentId: "sha256:1", message: "no" } as const;

    assert.equal(hasFailedBy({ result: { ...failed, code } }, accountFailures), true);
    assert.equal(
      hasFailedBy({ result: { kind: "withdrawing", message: "no", code } }, accountFailures),
      true,
    );
    assert.equal(
      hasFailedBy({ result: { ...failed, code: "HELM_FAILED" } }, accountFailures),
      false,
    );
    assert.equal(hasFailedBy({ result: { kind: "pending", message: "" } }, accountFailures), false);
  });
});
