import assert from "node:assert/strict";
import type { BundleDeploymentStatus } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aDeployment, digestA, digestB } from "../testing/index.ts";
import { idOf, nameOfId, objectCounts, objectStates } from "./object-states.ts";

const pod = { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "a" };
const applied = { appliedDeploymentID: digestA, ready: true };

function stateOfPod(status: BundleDeploymentStatus, wanted = digestA): string | undefined {
  const spec = { deploymentID: wanted, stagedDeploymentID: wanted };
  return objectStates(aDeployment("paris", { status: { ...applied, ...status }, spec })).get(
    idOf(pod),
  );
}

describe("the state of an object", () => {
  const cases: readonly (readonly [
    what: string,
    status: BundleDeploymentStatus,
    state: string | undefined,
  ])[] = [
    ["that is not there", {}, undefined],
    ["that is listed without a state", { resources: [pod] }, "ready"],
    ["that is in progress", { resources: [{ ...pod, state: "in-progress" }] }, "notReady"],
    ["that failed", { resources: [{ ...pod, state: "failed" }] }, "notReady"],
    ["that cannot be seen", { resources: [{ ...pod, state: "unknown" }] }, "unknown"],
    ["that is missing", { resources: [{ ...pod, state: "missing" }] }, "missing"],
    ["that is among those not ready alone", { nonReadyStatus: [pod] }, "notReady"],
    [
      "that is among those not ready since it cannot be seen",
      { nonReadyStatus: [{ ...pod, summary: { state: "unknown" } }] },
      "unknown",
    ],
    ["that is missing beyond the list", { modifiedStatus: [{ ...pod, missing: true }] }, "missing"],
    ["that should not be there", { modifiedStatus: [{ ...pod, delete: true }] }, "orphaned"],
    [
      "that somebody changed",
      { resources: [pod], modifiedStatus: [{ ...pod, patch: "{}" }] },
      "modified",
    ],
  ];
  for (const [what, status, state] of cases) {
    test(`${what} is ${state ?? "none"}`, () => {
      assert.equal(stateOfPod(status), state);
    });
  }

  test("that is ready of what was wanted before is that it waits", () => {
    assert.equal(stateOfPod({ resources: [pod] }, digestB), "waitApplied");
    assert.equal(stateOfPod({ resources: [{ ...pod, state: "failed" }] }, digestB), "notReady");
  });
});

describe("the counts of objects", () => {
  const resourceCounts = {
    desiredReady: 5,
    ready: 3,
    notReady: 1,
    missing: 1,
    modified: 0,
    orphaned: 0,
    unknown: 0,
    waitApplied: 0,
  };
  const status = { ...applied, resourceCounts };

  test("are what the agent counted", () => {
    assert.deepEqual(objectCounts(aDeployment("paris", { status })), resourceCounts);
    assert.equal(objectCounts(aDeployment("paris")), undefined);
  });

  test("have what is ready of something older as waiting", () => {
    const spec = { deploymentID: digestB, stagedDeploymentID: digestB };

    assert.deepEqual(objectCounts(aDeployment("paris", { status, spec })), {
      ...resourceCounts,
      ready: 0,
      waitApplied: 3,
    });
  });
});

test("the name of an object is had back from its id", () => {
  assert.deepEqual(nameOfId(idOf(pod)), pod);
  assert.deepEqual(nameOfId(idOf({ kind: "Node", name: "n", apiVersion: "v1" })), {
    apiVersion: "v1",
    kind: "Node",
    namespace: "",
    name: "n",
  });
});
