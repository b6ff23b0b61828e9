import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { Assignment } from "../../state/assignment/assignment-secret.ts";
import type { Readiness } from "../readiness/readiness.ts";
import { toDeploymentState } from "./deployment-state.ts";

const assignment: Assignment = {
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
const emptyState = {
  name: "web",
  uid: "u",
  ready: false,
  notReady: [],
  resources: [],
  incomplete: false,
  counts: none,
  message: "",
};

describe("the reported state", () => {
  test("of a pending deployment has the reason, the desired content, and the readiness of the installed objects", () => {
    assert.deepEqual(
      toDeploymentState(assignment, { kind: "pending", message: "paused" }, readiness),
      {
        ...emptyState,
        ...readiness,
        deploymentId: "sha256:new",
        phase: "pending",
        message: "paused",
      },
    );
  });

  test("of a failure is not ready, even if the objects of the previous release are ready", () => {
    const state = toDeploymentState(
      assignment,
      { kind: "failed", deploymentId: "sha256:new", message: "no", code: "HELM_FAILED" },
      { ...readiness, ready: true, notReady: [] },
    );

    assert.equal(state.ready, false);
    assert.deepEqual(state.resources, readiness.resources);
  });

  test("of a failure has the failed content and the time of the retry", () => {
    const retryAt = "2026-01-01T00:00:00Z";

    assert.deepEqual(
      toDeploymentState(
        assignment,
        { kind: "failed", deploymentId: "sha256:old", message: "no", code: "HELM_FAILED", retryAt },
        undefined,
      ),
      {
        ...emptyState,
        deploymentId: "sha256:old",
        phase: "failed",
        message: "no",
        code: "HELM_FAILED",
        retryAt,
      },
    );
  });

  test("of a withdrawal has its last error", () => {
    assert.deepEqual(
      toDeploymentState(assignment, { kind: "withdrawing", message: "no" }, readiness),
      {
        ...emptyState,
        deploymentId: "sha256:new",
        phase: "withdrawing",
        message: "no",
      },
    );
  });

  test("of an installed release has the readiness of its objects", () => {
    const result = {
      kind: "deployed",
      deploymentId: "sha256:old",
      release,
      chartDigest: "sha256:c",
    } as const;

    assert.deepEqual(toDeploymentState(assignment, result, readiness), {
      ...emptyState,
      ...readiness,
      deploymentId: "sha256:old",
      phase: "deployed",
      release,
      chartDigest: "sha256:c",
    });
  });

  test("of an installed release is not ready until its objects are read", () => {
    const state = toDeploymentState(
      assignment,
      { kind: "deployed", deploymentId: "sha256:new", release },
      undefined,
    );

    assert.equal(state.ready, false);
    assert.ok(!("chartDigest" in state));
  });
});
