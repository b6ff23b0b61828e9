import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import { test } from "vitest";
import { aBundle, httpPin, now } from "../testing/index.ts";
import { decidedStatus, resolutionStateOf, resolvedStatus } from "./decided-status.ts";

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
