import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { describe, test } from "vitest";
import { agentErrors } from "../errors.ts";
import { decidedByAccount, isFailedBy, outcomeUntilChanged } from "./progress.ts";
import { retriedMessage, retryDelayMs } from "./retry.ts";

describe("after a failure", () => {
  test("a deployment waits for what the hub has not sent, and is no failure yet", () => {
    const awaited = new AppError(agentErrors.SUPPLY_AWAITED, "waiting for the Secret a");

    assert.deepEqual(outcomeUntilChanged(awaited, "sha256:1"), {
      kind: "pending",
      message: "waiting for the Secret a",
    });
  });

  for (const kind of [agentErrors.SUPPLY_MISSING, agentErrors.VALUES_TEMPLATE_FAILED]) {
    test(`${kind.code} is not tried again before something changes`, () => {
      assert.deepEqual(outcomeUntilChanged(new AppError(kind, "no"), "sha256:1"), {
        kind: "failed",
        deploymentId: "sha256:1",
        message: "no",
        code: kind.code,
      });
    });
  }

  test("everything else is tried again, ever more seldom, and says when", () => {
    const failed = new AppError(agentErrors.HELM_FAILED, "helm upgrade: no");

    assert.equal(outcomeUntilChanged(failed, "sha256:1"), undefined);
    assert.deepEqual([1, 2, 3, 50].map(retryDelayMs), [5_000, 10_000, 20_000, 300_000]);
    assert.equal(
      retriedMessage(failed, Date.UTC(2026, 0, 1)),
      "helm upgrade: no; it is tried again at 2026-01-01T00:00:00Z",
    );
  });

  test("another account may put an end to what an account decides, also of a withdrawal", () => {
    const { code } = agentErrors.SERVICE_ACCOUNT_MISSING;
    const failed = { kind: "failed", deploymentId: "sha256:1", message: "no" } as const;

    assert.equal(isFailedBy({ outcome: { ...failed, code } }, decidedByAccount), true);
    assert.equal(
      isFailedBy({ outcome: { kind: "withdrawing", message: "no", code } }, decidedByAccount),
      true,
    );
    assert.equal(
      isFailedBy({ outcome: { ...failed, code: "HELM_FAILED" } }, decidedByAccount),
      false,
    );
    assert.equal(
      isFailedBy({ outcome: { kind: "pending", message: "" } }, decidedByAccount),
      false,
    );
  });
});
