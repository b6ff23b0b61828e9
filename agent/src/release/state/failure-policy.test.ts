import assert from "node:assert/strict";
import type { ReleaseActions } from "@flotilla/shared/content";
import { describe, test } from "vitest";
import {
  type AttemptedAction,
  type FailurePolicy,
  failurePolicy,
  isExhausted,
} from "./failure-policy.ts";

const remediate = {
  kind: "remediate",
  by: "rollback",
  retries: 0,
  remediatesLast: false,
  ignoresTests: false,
} as const;

const cases: readonly (readonly [string, AttemptedAction, ReleaseActions, FailurePolicy])[] = [
  ["of an upgrade without options is retried, as in Fleet", "upgrade", {}, { kind: "retry" }],
  [
    "of an installation without options is retried, although upgrades are remediated",
    "install",
    { upgrade: { remediation: { retries: 1 } } },
    { kind: "retry" },
  ],
  [
    "with RetryOnFailure is retried after five minutes",
    "upgrade",
    { upgrade: { strategy: { name: "RetryOnFailure" } } },
    { kind: "retry", intervalMs: 300_000 },
  ],
  [
    "with RetryOnFailure and an interval is retried after it, whatever the remediation",
    "install",
    {
      install: {
        strategy: { name: "RetryOnFailure", retryIntervalSeconds: 1.5 },
        remediation: { retries: 2 },
      },
    },
    { kind: "retry", intervalMs: 1_500 },
  ],
  [
    "with RemediateOnFailure alone is not retried",
    "upgrade",
    { upgrade: { strategy: { name: "RemediateOnFailure" } } },
    remediate,
  ],
  [
    "of an installation is remediated by uninstalling it, except for the last",
    "install",
    { install: { remediation: { retries: 3 } } },
    { ...remediate, by: "uninstall", retries: 3 },
  ],
  [
    "of an upgrade with retries is also remediated for the last",
    "upgrade",
    { upgrade: { remediation: { retries: 3 } } },
    { ...remediate, retries: 3, remediatesLast: true },
  ],
  [
    "of an upgrade with retries is not remediated for the last if it says so",
    "upgrade",
    { upgrade: { remediation: { retries: 3, remediateLastFailure: false } } },
    { ...remediate, retries: 3 },
  ],
  [
    "of an upgrade can be remediated by uninstalling",
    "upgrade",
    { upgrade: { remediation: { strategy: "uninstall" } } },
    { ...remediate, by: "uninstall" },
  ],
  [
    "of tests is ignored if tests say so",
    "upgrade",
    { test: { ignoreFailures: true }, upgrade: { remediation: {} } },
    { ...remediate, ignoresTests: true },
  ],
  [
    "of tests is ignored by what the remediation says",
    "upgrade",
    { test: { ignoreFailures: true }, upgrade: { remediation: { ignoreTestFailures: false } } },
    remediate,
  ],
];

describe("a failure", () => {
  for (const [what, action, actions, expected] of cases)
    test(what, () => assert.deepEqual(failurePolicy({ actions }, action), expected));

  test("is the last one when there are more than the retries", () => {
    const policy = { ...remediate, retries: 2 };

    assert.deepEqual(
      [0, 1, 2, 3].map((failures) => isExhausted(policy, failures)),
      [false, false, false, true],
    );
  });

  test("is never the last with negative retries, or without remediation", () => {
    assert.equal(isExhausted({ ...remediate, retries: -1 }, 1_000), false);
    assert.equal(isExhausted({ kind: "retry" }, 1_000), false);
  });
});
