import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { FailedAttempts, InventoryRevision } from "../../state/inventory/inventory-secret.ts";
import { type ReleaseFacts, releaseConditions } from "./conditions.ts";

const revision: InventoryRevision = {
  ...{ revision: 3, content: "c", digest: "d", action: "upgrade" },
  ...{ chartName: "app", chartVersion: "1.0.0" },
};
const failed: FailedAttempts = {
  ...{ deploymentId: "sha256:1", digest: "d", action: "upgrade", count: 1 },
  ...{ reason: "UpgradeFailed", message: "no such field", code: "HELM_FAILED" },
};
const passed = { name: "smoke", phase: "Succeeded" } as const;

function conditionsOf(facts: Partial<ReleaseFacts>): readonly string[] {
  return releaseConditions({
    ...{ release: "shop/web", revision, failed: undefined, progress: { kind: "done" } },
    ...facts,
  }).map(({ type, status, reason }) => `${type} ${status} ${reason}`);
}

test("the remarks on how a revision was applied follow its result", () => {
  const clientSide = {
    reason: "DuplicateKey",
    object: "Deployment shop/web",
    field: "spec.a",
  } as const;
  const [released] = releaseConditions({
    ...{ release: "shop/web", failed: undefined, progress: { kind: "done" } },
    revision: {
      ...revision,
      notes: { clientSide, replaced: ["1", "2", "3", "4", "5", "6"].map((n) => `Job shop/j${n}`) },
    },
  });
  assert.equal(
    released?.message,
    "Helm upgrade succeeded for release shop/web.v3 with chart app@1.0.0; applied client-side, because server-side apply refuses spec.a of Deployment shop/web: two entries of it have the same key; deleted and created again: Job shop/j1, Job shop/j2, Job shop/j3, Job shop/j4, Job shop/j5 and 1 more",
  );
});

const cases: readonly (readonly [string, Partial<ReleaseFacts>, readonly string[]])[] = [
  ["that was never installed", { revision: undefined }, []],
  [
    "that was installed",
    { revision: { ...revision, action: "install" } },
    ["Released True InstallSucceeded"],
  ],
  ["that was upgraded", {}, ["Released True UpgradeSucceeded"]],
  [
    "whose tests have passed",
    { revision: { ...revision, tests: [passed] } },
    ["Released True UpgradeSucceeded", "TestSuccess True TestSucceeded"],
  ],
  [
    "with a failed test that is ignored",
    { revision: { ...revision, tests: [passed, { name: "load", phase: "Failed" }] } },
    ["Released True UpgradeSucceeded", "TestSuccess False TestFailed"],
  ],
  [
    "whose objects others have changed",
    { drift: { status: "True", reason: "DriftDetected", message: "web: /spec/replicas" } },
    ["Released True UpgradeSucceeded", "Drifted True DriftDetected"],
  ],
  [
    "that becomes ready",
    { progress: { kind: "progressing", message: "waiting" } },
    ["Released Unknown Progressing", "Reconciling True Progressing"],
  ],
  [
    "whose upgrade failed and is retried",
    {
      failed,
      progress: { kind: "failed", code: "HELM_FAILED", message: "no", retryAt: "2026-01-01" },
    },
    ["Released False UpgradeFailed", "Reconciling True ProgressingWithRetry"],
  ],
  [
    "that was rolled back, without retries left",
    {
      failed: { ...failed, remediation: { by: "rollback" } },
      revision: { ...revision, action: "rollback" },
      progress: { kind: "failed", code: "RETRIES_EXCEEDED", message: "no", retryAt: "2026-01-01" },
    },
    [
      "Released False UpgradeFailed",
      "Remediated True RollbackSucceeded",
      "Stalled True RetriesExceeded",
    ],
  ],
  [
    "whose uninstall after a failed installation failed, too",
    {
      failed: { ...failed, reason: "InstallFailed", remediation: { by: "uninstall", error: "no" } },
      revision: undefined,
      progress: { kind: "failed", code: "HELM_FAILED", message: "no", retryAt: "2026-01-01" },
    },
    [
      "Released False InstallFailed",
      "Remediated False UninstallFailed",
      "Reconciling True ProgressingWithRetry",
    ],
  ],
  [
    "whose tests failed",
    {
      failed: { ...failed, reason: "TestFailed" },
      progress: { kind: "failed", code: "RETRIES_EXCEEDED", message: "no" },
    },
    [
      "Released True UpgradeSucceeded",
      "TestSuccess False TestFailed",
      "Stalled True RetriesExceeded",
    ],
  ],
  [
    "that nothing retries before a change",
    { progress: { kind: "failed", code: "RELEASE_NOT_OURS", message: "no" } },
    ["Released True UpgradeSucceeded", "Stalled True Stalled"],
  ],
];

describe("the conditions of a release", () => {
  for (const [what, facts, expected] of cases)
    test(what, () => assert.deepEqual(conditionsOf(facts), expected));

  test("say what Helm did, with which chart", () => {
    const [released] = releaseConditions({
      ...{ release: "shop/web", revision, failed: undefined, progress: { kind: "done" } },
    });

    assert.equal(
      released?.message,
      "Helm upgrade succeeded for release shop/web.v3 with chart app@1.0.0",
    );
  });

  test("have short messages", () => {
    const [released] = releaseConditions({
      ...{ release: "shop/web", revision, progress: { kind: "done" } },
      failed: { ...failed, message: "x".repeat(9_000) },
    });

    assert.equal(released?.message.length, 512);
  });
});
