import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Readiness } from "../readiness/readiness.ts";
import { composeState } from "./compose-state.ts";

const held: HeldAssignment = {
  owner: { name: "web", uid: "u" },
  deploymentId: "sha256:new",
  content: new Uint8Array(),
  paused: false,
  withdrawing: false,
};
const release = {
  namespace: "apps",
  name: "web",
  revision: 2,
  chartVersion: "1.0.0",
  appVersion: "",
};
const none = { desiredReady: 0, ready: 0, notReady: 0, missing: 0, unknown: 0 };
const readiness: Readiness = {
  ready: false,
  notReady: [
    {
      apiVersion: "v1",
      kind: "Pod",
      name: "p",
      message: "is being started",
      state: "in-progress",
    },
  ],
  resources: [{ apiVersion: "v1", kind: "Pod", name: "p", state: "in-progress" }],
  incomplete: true,
  counts: { ...none, desiredReady: 1, notReady: 1 },
};
const nothing = {
  name: "web",
  uid: "u",
  ready: false,
  notReady: [],
  resources: [],
  incomplete: false,
  counts: none,
  message: "",
};

describe("what is reported", () => {
  test("of what waits is why, for the content that is wanted, and how what is installed is", () => {
    assert.deepEqual(composeState(held, { kind: "pending", message: "paused" }, readiness), {
      ...nothing,
      ...readiness,
      deploymentId: "sha256:new",
      phase: "pending",
      message: "paused",
    });
  });

  test("of a failure is not ready, however well what was installed before is", () => {
    const state = composeState(
      held,
      { kind: "failed", deploymentId: "sha256:new", message: "no", code: "HELM_FAILED" },
      { ...readiness, ready: true, notReady: [] },
    );

    assert.equal(state.ready, false);
    assert.deepEqual(state.resources, readiness.resources);
  });

  test("of a failure speaks of the content that failed and of the next try", () => {
    const retryAt = "2026-01-01T00:00:00Z";

    assert.deepEqual(
      composeState(
        held,
        { kind: "failed", deploymentId: "sha256:old", message: "no", code: "HELM_FAILED", retryAt },
        undefined,
      ),
      {
        ...nothing,
        deploymentId: "sha256:old",
        phase: "failed",
        message: "no",
        code: "HELM_FAILED",
        retryAt,
      },
    );
  });

  test("of a removal is what holds it up", () => {
    assert.deepEqual(composeState(held, { kind: "withdrawing", message: "no" }, readiness), {
      ...nothing,
      deploymentId: "sha256:new",
      phase: "withdrawing",
      message: "no",
    });
  });

  test("of what is deployed is how its objects are", () => {
    const outcome = {
      kind: "deployed",
      deploymentId: "sha256:old",
      release,
      chartDigest: "sha256:c",
    } as const;

    assert.deepEqual(composeState(held, outcome, readiness), {
      ...nothing,
      ...readiness,
      deploymentId: "sha256:old",
      phase: "deployed",
      release,
      chartDigest: "sha256:c",
    });
  });

  test("of what is deployed is not ready while nobody has looked at its objects", () => {
    const state = composeState(
      held,
      { kind: "deployed", deploymentId: "sha256:new", release },
      undefined,
    );

    assert.equal(state.ready, false);
    assert.ok(!("chartDigest" in state));
  });
});
