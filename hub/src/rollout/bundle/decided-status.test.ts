import assert from "node:assert/strict";
import type { BundleStatus } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import { aBundle, httpPin, now } from "../../testing/index.ts";
import {
  type BundleDecision,
  decidedStatus,
  resolutionStateOf,
  resolvedStatus,
  retryingStatus,
} from "./decided-status.ts";

const pins = [{ repo: "r", chart: "c", version: "~1", pin: httpPin("1.2.9") }];
const attempt = { observedGeneration: 1, failures: 2, error: "rejected" };
const resolution = { state: { pins, attempt }, handled: "one" };
const accepted = { status: "True", reason: "", message: "" } as const;
const deployed = { targets: 3, version: "1.2.9", uncheckedContents: { "s-1": "web" } };

test("a deployed Bundle reports its targets, version, pins and schedule", () => {
  const bundle = aBundle({}, { generation: 4 });

  const { conditions, ...status } = decidedStatus(bundle, undefined, {
    accepted,
    resolution,
    deployed,
    now,
  });

  assert.deepEqual(status, {
    observedGeneration: 4,
    ...deployed,
    pins,
    resolution: attempt,
    lastHandledReconcileAt: "one",
  });
  assert.equal(findCondition(conditions, "Accepted")?.observedGeneration, 4);
  assert.deepEqual(resolutionStateOf(status), { pins, attempt, pinCheck: undefined });
});

test("a Bundle that is not deployed keeps the targets and the version that were deployed", () => {
  const before = decidedStatus(aBundle(), undefined, { accepted, deployed, now });
  const rejected = { status: "False", reason: "Invalid", message: "wrong" } as const;

  const status = decidedStatus(aBundle({}, { generation: 2 }), before, { accepted: rejected, now });

  assert.deepEqual(
    [status.targets, status.version, status.uncheckedContents, status.observedGeneration],
    [3, "1.2.9", { "s-1": "web" }, 2],
  );
});

test("a Bundle of a HelmOp reports no pins and no schedule", () => {
  assert.deepEqual(resolvedStatus({ pins, resolution: attempt, targets: 1 }, undefined), {
    targets: 1,
  });
});

describe("while an attempt takes long whose last one failed", () => {
  const remarks = ["no chart; trying again since 2026-01-01T00:00:00Z"];
  const failed = { status: "False", reason: "Error", message: "no chart" } as const;
  const statusWith = (decision: Partial<BundleDecision>) =>
    decidedStatus(aBundle(), undefined, {
      accepted: failed,
      now: "2025-12-31T00:00:00Z",
      ...decision,
    });

  test.each([
    ["that is not accepted", failed],
    ["that is deployed", { ...accepted, message: "no chart" }],
  ] as const)("a Bundle %s has another message, and the same times", (_, known) => {
    const before = statusWith({ accepted: known });
    const next = retryingStatus(aBundle(), before, { remarks, now });

    const [was] = before.conditions ?? [];
    assert.deepEqual(next, {
      ...before,
      conditions: [{ ...was, message: remarks[0], lastUpdateTime: now }],
    });
  });

  const others: readonly (readonly [string, number, BundleStatus])[] = [
    ["rejected for another reason", 1, statusWith({ rejectedCode: "POLICY_VIOLATION" })],
    [
      "deployed, with targets that name what does not exist",
      1,
      statusWith({ accepted: { ...accepted, reason: "TargetsMissing" } }),
    ],
    ["of another generation", 2, statusWith({})],
    ["that was not reconciled yet", 1, {}],
  ];
  test.each(others)("a Bundle %s stays as it is", (_, generation, before) => {
    assert.equal(retryingStatus(aBundle({}, { generation }), before, { remarks, now }), before);
  });
});

test("the numbers of a rollout are in the status while something limits it", () => {
  const rollout = { partitions: [], unavailable: 1, maxUnavailable: 2 };
  const fieldsOf = ({ partitions, unavailable, maxUnavailable }: BundleStatus) => ({
    partitions,
    unavailable,
    maxUnavailable,
  });

  const limited = decidedStatus(aBundle(), undefined, {
    accepted,
    deployed: { ...deployed, rollout },
    now,
  });
  assert.deepEqual(fieldsOf(limited), rollout);
  // What is not accepted changes nothing that is deployed.
  assert.deepEqual(fieldsOf(decidedStatus(aBundle(), limited, { accepted, now })), rollout);

  const unlimited = decidedStatus(aBundle(), limited, { accepted, deployed, now });
  assert.deepEqual(
    Object.keys(rollout).filter((name) => name in unlimited),
    [],
  );
});
