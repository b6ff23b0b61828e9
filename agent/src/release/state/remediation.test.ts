import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { Action } from "./action.ts";
import type { FailurePolicy } from "./failure-policy.ts";
import { type Given, nextAction, nowMs, record } from "./testing/index.ts";

const failedRecord = record({ status: "failed" });
const before = record({ revision: 3, status: "superseded", digest: "old" });
const rolledBack = record({ revision: 5, digest: "old" });
const target = { kind: "found", record: before } as const;

function remediation(retries: number, more: Partial<FailurePolicy> = {}): FailurePolicy {
  const policy = { kind: "remediate", by: "rollback", remediatesLast: true, ignoresTests: false };
  return { ...policy, retries, ...more } as FailurePolicy;
}

function given(count: number, upgrade: FailurePolicy, more: Given = {}): Given {
  return {
    latest: failedRecord,
    policies: { install: { ...upgrade, by: "uninstall" } as FailurePolicy, upgrade },
    failed: { action: "upgrade", count },
    rollbackTarget: target,
    ...more,
  };
}

const upgrade = (revision: number): Action => ({ kind: "upgrade", revision });
const rollback: Action = { kind: "rollback", record: failedRecord, target: before };
const spent: Action = { kind: "stop", why: "RetriesExceeded" };
const tested = { latest: record(), tests: "required" } as const;

const cases: readonly (readonly [string, Given, Action])[] = [
  ["rolls a failed upgrade back", given(1, remediation(1)), rollback],
  [
    "uninstalls a failed upgrade if the strategy says so",
    given(1, remediation(1, { by: "uninstall" })),
    { kind: "uninstall", record: failedRecord, why: "remediation" },
  ],
  [
    "uninstalls a failed installation",
    given(1, remediation(1), { failed: { action: "install", count: 1 } }),
    { kind: "uninstall", record: failedRecord, why: "remediation" },
  ],
  [
    "upgrades again after the rollback while there are retries",
    given(1, remediation(1), { latest: rolledBack }),
    upgrade(6),
  ],
  [
    "waits for the time of the retry after the rollback",
    given(1, remediation(1), { latest: rolledBack, retryAtMs: nowMs + 5 }),
    { kind: "wait", untilMs: nowMs + 5, why: "failed" },
  ],
  [
    "stops after the rollback without retries left",
    given(2, remediation(1), { latest: rolledBack }),
    spent,
  ],
  [
    "installs again after the uninstall",
    given(1, remediation(1), { latest: undefined }),
    upgrade(1),
  ],
  [
    "installs after the uninstall of a failed upgrade without retries left, as installations have their own",
    given(2, remediation(1), { latest: undefined }),
    upgrade(1),
  ],
  [
    "stops when that installation has failed, too",
    given(2, remediation(0), {
      latest: undefined,
      failed: { action: "install", count: 2, counts: { install: 1, upgrade: 1 } },
    }),
    spent,
  ],
  [
    "stops after the uninstall of a failed installation without retries left",
    given(2, remediation(1), { latest: undefined, failed: { action: "install", count: 2 } }),
    spent,
  ],
  [
    "upgrades a failed release again if the last attempt has changed nothing of it",
    given(0, remediation(0), {
      failed: { action: "upgrade", count: 0, counts: { install: 0, upgrade: 0 } },
    }),
    upgrade(5),
  ],
  [
    "installs again if the last attempt has changed nothing, without retries",
    given(0, remediation(0), { latest: undefined, failed: { action: "install", count: 0 } }),
    upgrade(1),
  ],
  ["also rolls back the last failure", given(2, remediation(1)), rollback],
  [
    "leaves the last failure if it is not to be remediated",
    given(2, remediation(1, { remediatesLast: false })),
    spent,
  ],
  [
    "never stops with negative retries",
    given(1_000, remediation(-1), { latest: rolledBack }),
    upgrade(6),
  ],
  [
    "stops if there is no revision to roll back to",
    given(1, remediation(1), { rollbackTarget: { kind: "missing" } }),
    { kind: "stop", why: "MissingRollbackTarget" },
  ],
  [
    "upgrades again if somebody has changed the revision to roll back to",
    given(1, remediation(1), { rollbackTarget: { kind: "tampered" } }),
    upgrade(5),
  ],
  [
    "stops without retries also if somebody has changed the revision to roll back to",
    given(2, remediation(1), { rollbackTarget: { kind: "tampered" } }),
    { kind: "stop", why: "RetriesExceeded" },
  ],
  [
    "upgrades a failed release of another content",
    { ...given(0, remediation(0)), failed: undefined },
    upgrade(5),
  ],
  [
    "upgrades on request without retries left",
    given(9, remediation(0), { mustUpgrade: true }),
    upgrade(5),
  ],
  [
    "upgrades on request before the time of the retry",
    { latest: failedRecord, retryAtMs: nowMs + 5, mustUpgrade: true },
    upgrade(5),
  ],
  ["upgrades on request what is in sync", { latest: record(), mustUpgrade: true }, upgrade(5)],
  [
    "rolls back again after a rollback that failed, at the time of the retry",
    given(1, remediation(1), { latest: record({ revision: 5, status: "failed", digest: "old" }) }),
    {
      kind: "rollback",
      record: record({ revision: 5, status: "failed", digest: "old" }),
      target: before,
    },
  ],
  [
    "retries after the interval of RetryOnFailure",
    given(7, { kind: "retry", intervalMs: 60_000 }, { retryAtMs: nowMs + 1 }),
    { kind: "wait", untilMs: nowMs + 1, why: "failed" },
  ],
  ["tests a release that was not tested", tested, { kind: "test", record: record() }],
  [
    "does not test a release without tests enabled",
    { latest: record() },
    { kind: "none", record: record() },
  ],
  [
    "is done after the tests have passed",
    { ...tested, testsOf: () => "passed" },
    { kind: "none", record: record() },
  ],
  [
    "is done after tests have failed that are ignored",
    { ...tested, tests: "ignored", testsOf: () => "failed" },
    { kind: "none", record: record() },
  ],
  [
    "rolls back after tests have failed",
    given(1, remediation(1), { ...tested, testsOf: () => "failed" }),
    { kind: "rollback", record: record(), target: before },
  ],
  [
    "tests again if failed tests are not remediated",
    given(1, remediation(0, { ignoresTests: true }), { ...tested, testsOf: () => "failed" }),
    { kind: "test", record: record() },
  ],
  [
    "tests again after failed tests without any strategy",
    given(1, { kind: "retry" }, { ...tested, testsOf: () => "failed" }),
    { kind: "test", record: record() },
  ],
  [
    "upgrades after failed tests with RetryOnFailure",
    given(1, { kind: "retry", intervalMs: 1 }, { ...tested, testsOf: () => "failed" }),
    upgrade(5),
  ],
  [
    "waits until objects are ready before it tests",
    { ...tested, deadline: { revision: 4, untilMs: nowMs + 9, isRollback: false } },
    { kind: "await", record: record(), untilMs: nowMs + 9 },
  ],
  [
    "upgrades a release that is not ready yet, if another content is desired",
    {
      latest: record({ digest: "old" }),
      deadline: { revision: 4, untilMs: nowMs + 9, isRollback: false },
    },
    upgrade(5),
  ],
  [
    "waits for a rollback before it upgrades again",
    given(1, remediation(1), {
      latest: rolledBack,
      deadline: { revision: 5, untilMs: nowMs + 9, isRollback: true },
    }),
    { kind: "await", record: rolledBack, untilMs: nowMs + 9 },
  ],
];

describe("a release whose actions fail", () => {
  for (const [name, observed, expected] of cases)
    test(name, () => assert.deepEqual(nextAction(observed), expected));
});
