import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { ReleaseRecord } from "../../helm/cli/release-record.ts";
import { type Desired, determineState, type Observed, type ReleaseState } from "./release-state.ts";

const owner = { id: "web", name: "web", uid: "1" };
const other = { id: "shop", name: "shop", uid: "9" };
const desired: Desired = { owner, namespace: "apps", name: "web", digest: "new" };

function record(fields: Partial<ReleaseRecord> = {}): ReleaseRecord {
  return {
    ...{ namespace: "apps", name: "web", revision: 4, status: "deployed" },
    ...{ owner, digest: "new", isOwn: true, modifiedAtMs: 0 },
    ...fields,
  };
}

function nameOf(state: ReleaseState): string {
  if (state.kind !== "locked") return state.kind;
  return state.isOwn ? "locked by itself" : "locked by another";
}

const run = { revision: 4, rollsBack: false };

describe("the state of a release", () => {
  const cases: readonly (readonly [
    string,
    Partial<ReleaseRecord> | undefined,
    string,
    Partial<Observed>?,
  ])[] = [
    ["without a record", undefined, "absent"],
    ["that was uninstalled with its history kept", { status: "uninstalled" }, "absent"],
    ["as desired", {}, "inSync"],
    [
      "as desired, with objects that others have changed",
      {},
      "drifted",
      { drift: { corrects: false } },
    ],
    [
      "whose objects others have changed, with other values",
      { digest: "old" },
      "outOfSync",
      { drift: { corrects: true } },
    ],
    [
      "whose objects others have changed while somebody runs Helm",
      { status: "pending-upgrade", isOwn: false },
      "locked by another",
      { drift: { corrects: true } },
    ],
    ["with another chart or other values", { digest: "old" }, "outOfSync"],
    ["that another revision has replaced", { status: "superseded" }, "outOfSync"],
    ["whose last run failed", { status: "failed" }, "failed"],
    ["that somebody has changed by hand", { isOwn: false }, "unmanaged"],
    [
      "that somebody has changed by hand, and failed",
      { isOwn: false, status: "failed" },
      "unmanaged",
    ],
    ["that is being uninstalled", { status: "uninstalling" }, "uninstalling"],
    ["that somebody changes now", { status: "pending-upgrade", isOwn: false }, "locked by another"],
    [
      "that an interrupted run has locked",
      { status: "pending-upgrade", isOwn: false, labelled: owner },
      "locked by itself",
      { interruptedRun: run },
    ],
    [
      "of another deployment that is assigned",
      { owner: other },
      "conflict",
      { isAssigned: () => true },
    ],
    ["of another deployment that is not assigned any more", { owner: other }, "adoptable"],
    [
      "of another deployment that is not assigned any more, with other values",
      { owner: other, digest: "old" },
      "outOfSync",
    ],
    ["under another name than before", undefined, "moved", { owned: [record({ name: "old" })] }],
    [
      "in another namespace than before",
      undefined,
      "moved",
      { owned: [record({ namespace: "old" })] },
    ],
    [
      "under another name than before, which is uninstalled already",
      undefined,
      "absent",
      { owned: [record({ name: "old", status: "uninstalled" })] },
    ],
  ];
  for (const [what, fields, expected, observed = {}] of cases)
    test(what, () => {
      const latest = fields && record(fields);
      const state = determineState(desired, {
        ...{ latest, owned: latest === undefined ? [] : [latest] },
        ...{ interruptedRun: undefined, isAssigned: () => false },
        ...{ deadline: undefined, testsOf: () => undefined },
        ...observed,
      });
      assert.equal(nameOf(state), expected);
    });
});
