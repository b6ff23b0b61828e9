import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { ReleaseRecord } from "../../helm/cli/release-record.ts";
import { type Action, uninstallingMs } from "./action.ts";
import {
  type Given,
  lockTimeoutMs,
  nextAction,
  nowMs,
  other,
  owner,
  record,
} from "./testing/index.ts";

/** A record without an owner, of a release that was installed manually. */
function manualRecord(fields: Partial<ReleaseRecord> = {}): ReleaseRecord {
  const { owner: _, digest: __, ...rest } = record({ isOwn: false, ...fields });
  return rest;
}

const same = { revision: 3, content: "a.b.c", digest: "new" };
const earlier = record({ name: "old-web", revision: 2 });
const interruptedUninstall = record({ status: "uninstalling" });
/** The record has not changed for a second. */
const unlocksAtMs = nowMs - 1_000 + lockTimeoutMs;
const manualLock = manualRecord({ status: "pending-upgrade" });

const cases: readonly (readonly [string, Given, Action])[] = [
  ["installs an absent release", {}, { kind: "upgrade", revision: 1 }],
  [
    "does nothing if the release is in sync",
    { latest: record() },
    { kind: "none", record: record() },
  ],
  [
    "corrects drift",
    { latest: record(), drift: { corrects: true } },
    { kind: "correctDrift", record: record() },
  ],
  [
    "does nothing about drift that is only reported, or is to be corrected later",
    { latest: record(), drift: { corrects: false } },
    { kind: "none", record: record() },
  ],
  [
    "corrects drift that is only reported, or was corrected too often, on request",
    { latest: record(), drift: { corrects: false }, mustCorrect: true },
    { kind: "correctDrift", record: record() },
  ],
  [
    "corrects nothing on request where there is no drift",
    { latest: record(), mustCorrect: true },
    { kind: "none", record: record() },
  ],
  [
    "upgrades in place of a correction on request",
    { latest: record(), drift: { corrects: true }, mustUpgrade: true },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "tests a release before it corrects drift",
    { latest: record(), drift: { corrects: true }, tests: "required" },
    { kind: "test", record: record() },
  ],
  [
    "upgrades if the content changed",
    { latest: record({ digest: "old" }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "upgrades over a revision that was created manually",
    { latest: record({ isOwn: false }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "upgrades a release of an earlier deployment of the same name",
    { latest: record({ owner: { id: "web", uid: "0" }, digest: "other" }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "adopts an up-to-date release of an earlier deployment of the same name",
    { latest: record({ owner: { id: "web", uid: "0" } }) },
    { kind: "adopt", record: record({ owner: { id: "web", uid: "0" } }) },
  ],
  [
    "reports a release that was installed manually",
    { latest: manualRecord() },
    { kind: "foreign", record: manualRecord() },
  ],
  [
    "upgrades a release that was installed manually, if it may be taken over",
    { latest: manualRecord(), takesOwnership: true },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "upgrades a release whose labels name the deployment, and which is not in the inventory",
    { latest: manualRecord({ labelled: owner }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "reports a release whose labels name another deployment",
    { latest: manualRecord({ labelled: other }) },
    { kind: "foreign", record: manualRecord({ labelled: other }) },
  ],
  [
    "claims a revision that was created manually and is as desired",
    { latest: record({ isOwn: false }), sameRevision: same },
    { kind: "claim", record: record({ isOwn: false }), same },
  ],
  [
    "upgrades over such a revision if that is requested",
    { latest: record({ isOwn: false }), sameRevision: same, mustUpgrade: true },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "upgrades a release of a deployment that is not assigned any more",
    { latest: record({ owner: other, digest: "other" }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "adopts an up-to-date release of a deployment that is not assigned any more",
    { latest: record({ owner: other }) },
    { kind: "adopt", record: record({ owner: other }) },
  ],
  [
    "reports a conflict with another assigned deployment",
    {
      latest: record({ owner: other }),
      isAssigned: ({ id, uid }) => id === "shop" && uid === "9",
    },
    { kind: "conflict", owner: other },
  ],
  [
    "installs over a release that the other deployment has uninstalled with its history kept",
    { latest: record({ owner: other, status: "uninstalled" }), isAssigned: () => true },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "unlocks a lock of an interrupted run at once",
    {
      latest: { ...manualLock, labelled: owner },
      interruptedRun: { revision: 4, rollsBack: false },
    },
    { kind: "unlock", record: { ...manualLock, labelled: owner } },
  ],
  [
    "unlocks a run that is in no inventory, of a release that is its own by the inventory",
    { latest: record({ status: "pending-upgrade", labelled: owner }) },
    { kind: "unlock", record: record({ status: "pending-upgrade", labelled: owner }) },
  ],
  [
    "does not unlock by labels alone",
    { latest: { ...manualLock, labelled: owner } },
    { kind: "wait", untilMs: unlocksAtMs, why: "locked" },
  ],
  [
    "does not unlock another revision than the interrupted one",
    {
      latest: record({ status: "pending-upgrade" }),
      interruptedRun: { revision: 3, rollsBack: false },
    },
    { kind: "wait", untilMs: unlocksAtMs, why: "locked" },
  ],
  [
    "does not unlock a manual lock of the interrupted revision",
    {
      latest: record({ status: "pending-upgrade", isOwn: false }),
      interruptedRun: { revision: 4, rollsBack: false },
    },
    { kind: "wait", untilMs: unlocksAtMs, why: "locked" },
  ],
  [
    "unlocks an interrupted rollback at once",
    {
      latest: record({ revision: 5, status: "pending-rollback", isOwn: false }),
      interruptedRun: { revision: 4, rollsBack: true },
    },
    {
      kind: "unlock",
      record: record({ revision: 5, status: "pending-rollback", isOwn: false }),
    },
  ],
  [
    "unlocks an interrupted rollback to a revision that was created manually",
    {
      latest: manualRecord({ revision: 5, status: "pending-rollback" }),
      interruptedRun: { revision: 4, rollsBack: true },
    },
    { kind: "unlock", record: manualRecord({ revision: 5, status: "pending-rollback" }) },
  ],
  [
    "waits for a manual rollback after a run without rollback",
    {
      latest: record({ revision: 5, status: "pending-rollback", isOwn: false }),
      interruptedRun: { revision: 4, rollsBack: false },
    },
    { kind: "wait", untilMs: unlocksAtMs, why: "locked" },
  ],
  [
    "waits for a manual upgrade instead of the rollback",
    {
      latest: record({ revision: 5, status: "pending-upgrade", isOwn: false }),
      interruptedRun: { revision: 4, rollsBack: true },
    },
    { kind: "wait", untilMs: unlocksAtMs, why: "locked" },
  ],
  [
    "waits for a rollback of another revision",
    {
      latest: record({ revision: 6, status: "pending-rollback", isOwn: false }),
      interruptedRun: { revision: 4, rollsBack: true },
    },
    { kind: "wait", untilMs: unlocksAtMs, why: "locked" },
  ],
  [
    "waits for a lock of another Helm client",
    { latest: manualRecord({ status: "pending-install" }) },
    { kind: "wait", untilMs: unlocksAtMs, why: "locked" },
  ],
  [
    "reports a lock of another Helm client that has not changed for the timeout",
    { latest: manualLock, unchangedMs: lockTimeoutMs },
    { kind: "locked", record: manualLock },
  ],
  [
    "does not compare the time of the lock with its own clock",
    { latest: { ...manualLock, modifiedAtMs: 0 }, unchangedMs: 0 },
    { kind: "wait", untilMs: nowMs + lockTimeoutMs, why: "locked" },
  ],
  [
    "unlocks on request",
    { latest: manualLock, isForced: true },
    { kind: "unlock", record: manualLock },
  ],
  [
    "waits for the time of the retry",
    { latest: record({ status: "failed" }), retryAtMs: nowMs + 1 },
    { kind: "wait", untilMs: nowMs + 1, why: "failed" },
  ],
  [
    "retries at the time of the retry",
    { latest: record({ status: "failed" }), retryAtMs: nowMs },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "retries a failure of an earlier process at once",
    { latest: record({ status: "failed" }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "does nothing after a failure if the release is in sync",
    { latest: record(), retryAtMs: nowMs + 1 },
    { kind: "none", record: record() },
  ],
  [
    "waits for an uninstall in progress",
    { latest: record({ status: "uninstalling" }) },
    { kind: "wait", untilMs: nowMs - 1_000 + uninstallingMs, why: "locked" },
  ],
  [
    "uninstalls again after an interrupted uninstall",
    { latest: interruptedUninstall, unchangedMs: uninstallingMs },
    { kind: "uninstall", record: interruptedUninstall, why: "interrupted" },
  ],
  [
    "uninstalls the release of an earlier name first",
    { owned: [earlier] },
    { kind: "uninstall", record: earlier, why: "moved" },
  ],
  [
    "uninstalls the release of an earlier name even if the new one is in sync",
    { latest: record(), owned: [record(), earlier] },
    { kind: "uninstall", record: earlier, why: "moved" },
  ],
  [
    "uninstalls the release in an earlier namespace",
    { owned: [record({ namespace: "before" })] },
    { kind: "uninstall", record: record({ namespace: "before" }), why: "moved" },
  ],
  [
    "does not uninstall an earlier release of another UID",
    { owned: [record({ name: "old-web", owner: { id: "web", uid: "0" } })] },
    { kind: "upgrade", revision: 1 },
  ],
  [
    "ignores an earlier release that is uninstalled already",
    { owned: [record({ name: "old-web", status: "uninstalled" })] },
    { kind: "upgrade", revision: 1 },
  ],
];

describe("the next action", () => {
  for (const [name, observed, expected] of cases) {
    test(name, () => assert.deepEqual(nextAction(observed), expected));
  }
});
