import assert from "node:assert/strict";
import type { DriftedObject, DriftInfo, DriftRecord } from "@flotilla/proto";
import type { BundleDeploymentStatus } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import { stateOf } from "../../rules/summary/deployment-state.ts";
import { aDeployment, deployed, now } from "../../testing/index.ts";
import { deploymentStatus } from "./status.ts";

const web = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const changed: DriftedObject = {
  ...{ ...web, missing: false, fields: ["/spec/replicas"] },
  patch: '[{"op":"replace","path":"/spec/replicas","value":2}]',
  ...{ manager: "kubectl-scale", time: "2026-11-02T00:00:00Z" },
};
const detected: DriftRecord = {
  ...{ ...web, time: "2026-11-02T00:00:01Z", fields: ["/spec/replicas"] },
  ...{ manager: "kubectl-scale", result: "Detected" },
};

function statusOf(
  drift: DriftInfo | undefined,
  before: BundleDeploymentStatus = {},
): BundleDeploymentStatus {
  const counts = { desiredReady: 2, ready: 2, notReady: 0, missing: 0, unknown: 0 };
  const state = deployed({ counts, ...(drift !== undefined && { drift }) });
  return deploymentStatus(
    aDeployment("paris", { status: before }),
    { epoch: 1, sequence: 1, state },
    now,
  );
}

const drifted: DriftInfo = { objects: [changed], count: 1, history: [detected] };

describe("a deployment with drift", () => {
  test("is Modified, with what was changed and by whom", () => {
    const status = statusOf(drifted);
    const { missing: _, ...listed } = changed;

    assert.equal(status.nonModified, false);
    assert.equal(status.ready, true);
    assert.deepEqual(status.modifiedStatus, [listed]);
    assert.deepEqual(status.driftHistory, [detected]);
    assert.equal(stateOf(aDeployment("paris", { status })), "Modified");
    const ready = findCondition(status.conditions, "Ready");
    assert.deepEqual(
      [ready?.status, ready?.reason, ready?.message],
      ["False", "Modified", `deployment.apps shop/web was modified ${changed.patch}`],
    );
    assert.deepEqual([status.resourceCounts?.ready, status.resourceCounts?.modified], [1, 1]);
  });

  test("is Ready where it is a warning only, and says all the same what was changed", () => {
    const status = statusOf({ ...drifted, isWarning: true });

    assert.equal(stateOf(aDeployment("paris", { status })), "Ready");
    assert.equal(findCondition(status.conditions, "Ready")?.status, "True");
    assert.equal(status.modifiedStatus?.length, 1);
    assert.equal(status.resourceCounts?.modified, 1);
  });

  test("is ready again without it, and keeps its history", () => {
    const status = statusOf({ objects: [], count: 0, history: [] }, statusOf(drifted));

    assert.equal(status.nonModified, true);
    assert.equal(status.modifiedStatus, undefined);
    assert.deepEqual(status.driftHistory, [detected]);
    assert.equal(findCondition(status.conditions, "Ready")?.status, "True");
  });

  test("is not modified by an agent that does not detect drift", () => {
    assert.equal(statusOf(undefined).nonModified, true);
  });
});

describe("the history of drift", () => {
  function at(second: number, changes: Partial<DriftRecord> = {}): DriftRecord {
    return { ...detected, time: `2026-11-02T00:00:0${second}Z`, ...changes };
  }
  function merged(known: readonly DriftRecord[], reported: readonly DriftRecord[], count = 1) {
    const history = statusOf(
      { objects: [], count, history: reported },
      { driftHistory: known },
    ).driftHistory;
    return history?.map(({ time, result }) => `${time.slice(-3, -1)} ${result}`);
  }

  test("has the last result of the same changes, newest first", () => {
    const known = [at(2), at(1, { result: "Corrected" })];

    assert.deepEqual(merged(known, [at(3), at(2, { result: "Corrected" })]), [
      "03 Detected",
      "02 Corrected",
      "01 Corrected",
    ]);
  });

  test("is bounded in its length and its size", () => {
    const many = [9, 8, 7, 6, 5].map((second) => at(second));
    assert.equal(merged([at(1)], many)?.length, 5);

    assert.equal(merged([at(1)], many, 0)?.length, 2);

    const long = many.map((event) => ({ ...event, fields: ["/a".repeat(100)] }));
    assert.equal(merged([], long)?.length, 2);
  });
});
