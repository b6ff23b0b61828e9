import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { ReleaseRecord } from "../helm/release-record.ts";
import {
  type Action,
  type Desired,
  foreignLockMs,
  nextAction,
  type Observed,
  uninstallingMs,
} from "./next-action.ts";

const nowMs = 100_000_000;
const owner = { name: "web", uid: "1" };
const other = { name: "shop", uid: "9" };
const desired: Desired = { owner, namespace: "apps", name: "web", digest: "new" };

function record(fields: Partial<ReleaseRecord> = {}): ReleaseRecord {
  return {
    namespace: "apps",
    name: "web",
    revision: 4,
    status: "deployed",
    owner,
    digest: "new",
    isOurs: true,
    modifiedAtMs: nowMs - 1_000,
    ...fields,
  };
}

/** A record without an owner, as one has that was made by hand. */
function madeByHand(fields: Partial<ReleaseRecord> = {}): ReleaseRecord {
  const { owner: _, digest: __, ...rest } = record({ isOurs: false, ...fields });
  return rest;
}

function next(observed: Partial<Observed>): Action {
  return nextAction(desired, {
    latest: undefined,
    owned: observed.latest === undefined ? [] : [observed.latest],
    interrupted: undefined,
    isHeld: () => false,
    retryAtMs: undefined,
    nowMs,
    ...observed,
  });
}

const earlier = record({ name: "old-web", revision: 2 });
const cutOff = record({ status: "uninstalling", modifiedAtMs: nowMs - uninstallingMs });

const cases: readonly (readonly [string, Partial<Observed>, Action])[] = [
  ["what is absent is installed", {}, { kind: "upgrade", revision: 1 }],
  ["what is in sync is left alone", { latest: record() }, { kind: "none", record: record() }],
  [
    "another content is an upgrade",
    { latest: record({ digest: "old" }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "a revision that somebody made by hand is put right",
    { latest: record({ isOurs: false }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "a release of an earlier deployment of that name is taken over",
    { latest: record({ owner: { name: "web", uid: "0" }, digest: "other" }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "a release of an earlier deployment of that name that is as wanted is marked as this one's",
    { latest: record({ owner: { name: "web", uid: "0" } }) },
    { kind: "adopt", record: record({ owner: { name: "web", uid: "0" } }) },
  ],
  [
    "a release that nobody of ours made is taken over",
    { latest: madeByHand() },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "a release of a deployment that is held by no one any more is taken over",
    { latest: record({ owner: other, digest: "other" }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "a release of a deployment that is held by no one any more and is as wanted is marked as this one's",
    { latest: record({ owner: other }) },
    { kind: "adopt", record: record({ owner: other }) },
  ],
  [
    "a release that another held deployment has is refused",
    { latest: record({ owner: other }), isHeld: ({ name, uid }) => name === "shop" && uid === "9" },
    { kind: "refuse", holder: other },
  ],
  [
    "a release that the other deployment has uninstalled with its history kept is free",
    { latest: record({ owner: other, status: "uninstalled" }), isHeld: () => true },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "a lock of a run of ours that was cut off is taken off at once",
    {
      latest: record({ status: "pending-upgrade" }),
      interrupted: { revision: 4, rollsBack: false },
    },
    { kind: "unlock", record: record({ status: "pending-upgrade" }) },
  ],
  [
    "a lock on another revision than the one that was cut off is not ours",
    {
      latest: record({ status: "pending-upgrade" }),
      interrupted: { revision: 3, rollsBack: false },
    },
    { kind: "wait", untilMs: nowMs - 1_000 + foreignLockMs, why: "locked" },
  ],
  [
    "a lock by hand is not ours, even on the revision that we were about to make",
    {
      latest: record({ status: "pending-upgrade", isOurs: false }),
      interrupted: { revision: 4, rollsBack: false },
    },
    { kind: "wait", untilMs: nowMs - 1_000 + foreignLockMs, why: "locked" },
  ],
  [
    "a lock of the way back that Helm was on when we were cut off is taken off at once",
    {
      latest: record({ revision: 5, status: "pending-rollback", isOurs: false }),
      interrupted: { revision: 4, rollsBack: true },
    },
    {
      kind: "unlock",
      record: record({ revision: 5, status: "pending-rollback", isOurs: false }),
    },
  ],
  [
    "a lock of the way back to a release that somebody made by hand is taken off too",
    {
      latest: madeByHand({ revision: 5, status: "pending-rollback" }),
      interrupted: { revision: 4, rollsBack: true },
    },
    { kind: "unlock", record: madeByHand({ revision: 5, status: "pending-rollback" }) },
  ],
  [
    "a rollback by hand after a run that does not go back by itself is waited for",
    {
      latest: record({ revision: 5, status: "pending-rollback", isOurs: false }),
      interrupted: { revision: 4, rollsBack: false },
    },
    { kind: "wait", untilMs: nowMs - 1_000 + foreignLockMs, why: "locked" },
  ],
  [
    "an upgrade by hand in place of the way back is waited for",
    {
      latest: record({ revision: 5, status: "pending-upgrade", isOurs: false }),
      interrupted: { revision: 4, rollsBack: true },
    },
    { kind: "wait", untilMs: nowMs - 1_000 + foreignLockMs, why: "locked" },
  ],
  [
    "a rollback that is not the next revision after ours is waited for",
    {
      latest: record({ revision: 6, status: "pending-rollback", isOurs: false }),
      interrupted: { revision: 4, rollsBack: true },
    },
    { kind: "wait", untilMs: nowMs - 1_000 + foreignLockMs, why: "locked" },
  ],
  [
    "somebody else's lock is waited for",
    { latest: madeByHand({ status: "pending-install" }) },
    { kind: "wait", untilMs: nowMs - 1_000 + foreignLockMs, why: "locked" },
  ],
  [
    "somebody else's lock that is too old is taken off",
    { latest: record({ status: "pending-rollback", modifiedAtMs: nowMs - foreignLockMs }) },
    {
      kind: "unlock",
      record: record({ status: "pending-rollback", modifiedAtMs: nowMs - foreignLockMs }),
    },
  ],
  [
    "what failed is not tried before its time",
    { latest: record({ status: "failed" }), retryAtMs: nowMs + 1 },
    { kind: "wait", untilMs: nowMs + 1, why: "failed" },
  ],
  [
    "what failed is tried at its time",
    { latest: record({ status: "failed" }), retryAtMs: nowMs },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "what failed before this process began is tried at once",
    { latest: record({ status: "failed" }) },
    { kind: "upgrade", revision: 5 },
  ],
  [
    "what is in sync in spite of a failure needs no other try",
    { latest: record(), retryAtMs: nowMs + 1 },
    { kind: "none", record: record() },
  ],
  [
    "a removal that goes on is waited for",
    { latest: record({ status: "uninstalling" }) },
    { kind: "wait", untilMs: nowMs - 1_000 + uninstallingMs, why: "locked" },
  ],
  [
    "a removal that was cut off is ended",
    { latest: cutOff },
    { kind: "uninstall", record: cutOff },
  ],
  [
    "the release under an earlier name goes first",
    { owned: [earlier] },
    { kind: "uninstall", record: earlier },
  ],
  [
    "the release under an earlier name goes even when the new one is there",
    { latest: record(), owned: [record(), earlier] },
    { kind: "uninstall", record: earlier },
  ],
  [
    "the release in an earlier namespace goes",
    { owned: [record({ namespace: "before" })] },
    { kind: "uninstall", record: record({ namespace: "before" }) },
  ],
  [
    "an earlier release of another UID is not ours to remove",
    { owned: [record({ name: "old-web", owner: { name: "web", uid: "0" } })] },
    { kind: "upgrade", revision: 1 },
  ],
  [
    "an earlier release that is uninstalled already is left alone",
    { owned: [record({ name: "old-web", status: "uninstalled" })] },
    { kind: "upgrade", revision: 1 },
  ],
];

describe("the next action", () => {
  for (const [name, observed, expected] of cases) {
    test(name, () => assert.deepEqual(next(observed), expected));
  }
});
