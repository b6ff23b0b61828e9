import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type ReasonInputs, type ReleaseReason, reasonsOf } from "./release-reason.ts";
import type { ReleaseState } from "./release-state.ts";
import { record as aRecord } from "./testing/index.ts";

const record = aRecord();
const chart = { chart: "a", values: "v" };

describe("the reason of a release that is", () => {
  const cases: readonly (readonly [
    string,
    ReleaseState,
    Partial<ReasonInputs>,
    readonly ReleaseReason[],
  ])[] = [
    ["as desired", { kind: "inSync", record }, {}, []],
    [
      "as desired and upgraded on request",
      { kind: "inSync", record },
      { isRequested: true },
      ["Requested"],
    ],
    ["not installed", { kind: "absent", record: undefined }, { desired: chart }, ["NotInstalled"]],
    ["uninstalled by hand", { kind: "absent", record }, { desired: chart }, ["Uninstalled"]],
    [
      "out of sync by its values",
      { kind: "outOfSync", record },
      { installed: chart, desired: { ...chart, values: "w" } },
      ["ValuesChanged"],
    ],
    [
      "out of sync by chart and metadata",
      { kind: "outOfSync", record },
      { installed: chart, desired: { ...chart, chart: "b", commonMetadata: "m" } },
      ["ChartChanged", "CommonMetadataChanged"],
    ],
    [
      "out of sync with the revision of an older agent",
      { kind: "outOfSync", record },
      { desired: chart },
      ["ContentChanged"],
    ],
    [
      "superseded by a revision that failed",
      { kind: "outOfSync", record: aRecord({ status: "superseded" }) },
      { installed: chart, desired: chart },
      ["NotDeployed"],
    ],
    ["failed", { kind: "failed", record, what: "release" }, {}, ["ReleaseFailed"]],
    ["failed by its tests", { kind: "failed", record, what: "tests" }, {}, ["TestsFailed"]],
    ["untested", { kind: "untested", record }, {}, ["NotTested"]],
    ["changed by hand", { kind: "unmanaged", record, isForeign: false }, {}, ["ChangedByOthers"]],
    [
      "rolled back by Helm after an upgrade that failed",
      { kind: "unmanaged", record, isForeign: false },
      { isRolledBack: true },
      ["NotDeployed"],
    ],
    [
      "of another deployment",
      { kind: "conflict", owner: { id: "a", uid: "u" } },
      {},
      ["OwnedByOthers"],
    ],
    ["locked by another client", { kind: "locked", record, isOwn: false }, {}, ["LockedByOthers"]],
    ["locked by an interrupted run", { kind: "locked", record, isOwn: true }, {}, ["Interrupted"]],
    ["moved", { kind: "moved", record }, {}, ["Moved"]],
    ["being uninstalled", { kind: "uninstalling", record }, {}, ["Uninstalling"]],
    ["of a deployment that is gone", { kind: "adoptable", record }, {}, ["Orphaned"]],
    ["not ready yet", { kind: "progressing", record, untilMs: 1 }, {}, ["NotReady"]],
    ["drifted", { kind: "drifted", record, corrects: true }, {}, ["Drifted"]],
  ];
  for (const [what, state, inputs, reasons] of cases)
    test(what, () => {
      const none = { desired: undefined, installed: undefined };
      const all = { ...none, isRolledBack: false, isRequested: false, ...inputs };

      assert.deepEqual(reasonsOf(state, all), reasons);
    });
});
