import assert from "node:assert/strict";
import type { BundleStatus } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import {
  aBundle,
  aDeployment,
  aggregated,
  decidedBundle,
  digestA,
  httpPin,
  now,
} from "../../testing/index.ts";
import { type BundleInputs, bundleStatus, isUrgentBundle } from "./status.ts";

const resourceCounts = {
  ready: 2,
  desiredReady: 2,
  waitApplied: 0,
  modified: 0,
  orphaned: 0,
  missing: 0,
  unknown: 0,
  notReady: 0,
};
const ready = aDeployment("paris", {
  status: { appliedDeploymentID: digestA, ready: true, resourceCounts },
});
const waiting = aDeployment("rome");
const settled: BundleInputs = {
  bundle: decidedBundle(aBundle({}, { generation: 4 }), { generation: 4 }),
  ...aggregated([ready]),
  now,
};

function statusOf(inputs: BundleInputs): BundleStatus {
  const status = bundleStatus(inputs);
  assert.ok(status !== undefined);
  return status;
}

describe("the status of a Bundle", () => {
  test("counts clusters and objects, and has the generation that was targeted", () => {
    const status = statusOf(settled);

    assert.deepEqual(status.display, { readyClusters: "1/1", counts: "1 ready" });
    assert.deepEqual(status.resourceCounts, resourceCounts);
    assert.equal(status.observedGeneration, 4);
    assert.equal(findCondition(status.conditions, "Ready")?.observedGeneration, 4);
  });

  test("is Stalled while no retries are left, and without the condition otherwise", () => {
    const exceeded = aDeployment("paris", {
      status: {
        conditions: [
          { type: "Deployed", status: "False", message: "no" },
          { type: "Stalled", status: "True", reason: "RetriesExceeded", message: "no" },
        ],
      },
    });
    const stalled = statusOf({ ...settled, ...aggregated([exceeded]) });
    const condition = findCondition(stalled.conditions, "Stalled");
    assert.deepEqual([condition?.status, condition?.reason], ["True", "RetriesExceeded"]);

    const bundle = { ...settled.bundle, status: stalled };
    const resumed = statusOf({ ...settled, bundle, ...aggregated([waiting]) });
    assert.equal(findCondition(resumed.conditions, "Stalled"), undefined);
  });

  test("shows the worst state", () => {
    const status = statusOf({ ...settled, ...aggregated([ready, waiting]) });

    assert.deepEqual(status.display, {
      readyClusters: "1/2",
      counts: "1 ready, 1 waiting",
      state: "WaitApplied",
    });
  });

  test("is Unknown while it is of an earlier generation", () => {
    const status = statusOf({
      ...settled,
      bundle: decidedBundle(aBundle({}, { generation: 4 }), { generation: 3 }),
    });

    assert.equal(status.observedGeneration, 3);
    const condition = findCondition(status.conditions, "Ready");
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.observedGeneration],
      ["Unknown", "Progressing", 3],
    );
  });

  test("does not change with counters that keep growing", () => {
    const status = statusOf(settled);

    assert.notEqual(status.resourceCounts, settled.aggregate.resources);
  });

  test("is the same when only time has passed", () => {
    const status = statusOf(settled);

    assert.deepEqual(
      statusOf({
        ...settled,
        bundle: { ...settled.bundle, status },
        now: "2027-01-01T00:00:00Z",
      }),
      status,
    );
  });

  test("is written at once when all become ready, and later while they wait", () => {
    const progress = statusOf({ ...settled, ...aggregated([waiting]) });

    assert.equal(isUrgentBundle(undefined, progress), false);
    assert.equal(isUrgentBundle(progress, statusOf(settled)), true);
  });

  test("is written at once with new pins", () => {
    const pins = [{ repo: "r", chart: "c", version: "~1", pin: httpPin("1.2.9") }];
    const before = statusOf(settled);
    const bundle = { ...settled.bundle, status: { ...settled.bundle.status, pins } };

    assert.equal(isUrgentBundle(before, statusOf({ ...settled, bundle })), true);
    assert.equal(isUrgentBundle(before, before), false);
  });

  test("is written at once with a failed attempt, so that a crash does not lose the backoff", () => {
    const before = statusOf(settled);
    const resolution = { failures: 1, error: "connection refused" };
    const bundle = { ...settled.bundle, status: { ...settled.bundle.status, resolution } };

    assert.equal(isUrgentBundle(before, statusOf({ ...settled, bundle })), true);
  });

  test("has the notes of Accepted in Ready's message", () => {
    const bundle = decidedBundle(settled.bundle, { generation: 4, notes: "there is no group a" });

    assert.equal(
      findCondition(statusOf({ ...settled, bundle }).conditions, "Ready")?.message,
      "there is no group a",
    );
  });

  test("is not Ready, with the reason why the Bundle is not accepted", () => {
    const bundle = decidedBundle(settled.bundle, { generation: 4, error: "a Policy forbids it" });

    const ready = findCondition(statusOf({ ...settled, bundle }).conditions, "Ready");

    assert.deepEqual([ready?.status, ready?.message], ["False", "a Policy forbids it"]);
  });

  test("does not exist before the first reconcile", () => {
    assert.equal(bundleStatus({ ...settled, bundle: aBundle() }), undefined);
  });
});
