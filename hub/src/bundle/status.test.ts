import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { describe, test } from "vitest";
import { aBundle, aDeployment, digestA, httpPin, now } from "../testing/objects.ts";
import { tallied } from "../testing/tallied.ts";
import { type BundleInputs, bundleStatus, isBundleNews } from "./status.ts";

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
  bundle: aBundle({}, { generation: 4 }),
  targeting: { generation: 4, targets: 1, waiting: 0 },
  ...tallied([ready]),
  now,
};

describe("the status of a Bundle", () => {
  test("counts clusters and objects, and speaks of the generation that was targeted", () => {
    const status = bundleStatus(settled);

    assert.deepEqual(status.display, { readyClusters: "1/1", counts: "1 ready" });
    assert.deepEqual(status.resourceCounts, resourceCounts);
    assert.equal(status.observedGeneration, 4);
    assert.equal(findCondition(status.conditions, "Ready")?.observedGeneration, 4);
  });

  test("shows the worst state", () => {
    const status = bundleStatus({ ...settled, ...tallied([ready, waiting]) });

    assert.deepEqual(status.display, {
      readyClusters: "1/2",
      counts: "1 ready, 1 waiting",
      state: "WaitApplied",
    });
  });

  test("is Unknown while it speaks of an earlier generation", () => {
    const status = bundleStatus({
      ...settled,
      targeting: { ...settled.targeting, generation: 3 },
    });

    assert.equal(status.observedGeneration, 3);
    const condition = findCondition(status.conditions, "Ready");
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.observedGeneration],
      ["Unknown", "Progressing", 3],
    );
  });

  test("does not change with the totals that go on running", () => {
    const status = bundleStatus(settled);

    assert.notEqual(status.resourceCounts, settled.tally.resources);
  });

  test("is the same when nothing has changed but the time", () => {
    const status = bundleStatus(settled);

    assert.deepEqual(
      bundleStatus({
        ...settled,
        bundle: { ...settled.bundle, status },
        now: "2027-01-01T00:00:00Z",
      }),
      status,
    );
  });

  test("is news when all are ready, and not while they wait", () => {
    const progress = bundleStatus({ ...settled, ...tallied([waiting]) });

    assert.equal(isBundleNews(undefined, progress), false);
    assert.equal(isBundleNews(progress, bundleStatus(settled)), true);
  });

  test("tells the version that is handed out, and keeps it while nothing is", () => {
    const status = bundleStatus({
      ...settled,
      targeting: { ...settled.targeting, version: "1.2.9" },
    });
    const held = bundleStatus({
      ...settled,
      bundle: { ...settled.bundle, status },
      targeting: { ...settled.targeting, error: "a Policy forbids it" },
    });

    assert.equal(status.version, "1.2.9");
    assert.equal(held.version, "1.2.9");
    assert.equal(findCondition(held.conditions, "Ready")?.message, "a Policy forbids it");
  });

  test("keeps what its charts came to until that is known anew, and drops it where there is none", () => {
    const pins = [{ repo: "r", chart: "c", version: "~1", pin: httpPin("1.2.9") }];
    const kept = { ...settled.bundle, status: { pins } };
    const told = (known?: typeof pins) =>
      bundleStatus({
        ...settled,
        bundle: kept,
        targeting: { ...settled.targeting, ...(known !== undefined && { pins: known }) },
      }).pins;

    assert.deepEqual(told(), pins);
    assert.deepEqual(told(pins), pins);
    assert.equal(told([]), undefined);
  });

  test("with new pins is news, and Unknown until they are handed out", () => {
    const pins = [{ repo: "r", chart: "c", version: "~1", pin: httpPin("1.2.9") }];
    const before = bundleStatus(settled);
    const status = bundleStatus({
      ...settled,
      targeting: { ...settled.targeting, pins, isResolving: true },
    });

    assert.equal(isBundleNews(before, status), true);
    assert.equal(status.observedGeneration, 4);
    const { reason, observedGeneration } = findCondition(status.conditions, "Ready") ?? {};
    assert.deepEqual([reason, observedGeneration], ["Progressing", 4]);
  });

  test("says what is worth knowing although all is well", () => {
    const status = bundleStatus({
      ...settled,
      targeting: { ...settled.targeting, missing: ["no group a"], remarks: ["diff has no effect"] },
    });

    assert.equal(
      findCondition(status.conditions, "Ready")?.message,
      "no group a; diff has no effect",
    );
  });
});
