import assert from "node:assert/strict";
import type { BundleDeploymentStatus } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aDeployment, digestA, digestB } from "../../testing/index.ts";
import { idOf, nameOfId, objectCounts, objectStates } from "./object-states.ts";

const pod = { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "a" };
const applied = { appliedDeploymentID: digestA, ready: true };

function stateOfPod(status: BundleDeploymentStatus, desiredId = digestA): string | undefined {
  const spec = { deploymentID: desiredId, stagedDeploymentID: desiredId };
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
    ["that does not exist", {}, undefined],
    ["that is listed without a state", { resources: [pod] }, "ready"],
    ["that is in progress", { resources: [{ ...pod, state: "in-progress" }] }, "notReady"],
    ["that failed", { resources: [{ ...pod, state: "failed" }] }, "notReady"],
    ["that cannot be read", { resources: [{ ...pod, state: "unknown" }] }, "unknown"],
    ["that is missing", { resources: [{ ...pod, state: "missing" }] }, "missing"],
    ["that is only listed as not ready", { nonReadyStatus: [pod] }, "notReady"],
    [
      "that is listed as not ready because it cannot be read",
      { nonReadyStatus: [{ ...pod, summary: { state: "unknown" } }] },
      "unknown",
    ],
    ["that is missing but not listed", { modifiedStatus: [{ ...pod, missing: true }] }, "missing"],
    ["that should not exist", { modifiedStatus: [{ ...pod, delete: true }] }, "orphaned"],
    [
      "that was modified",
      { resources: [pod], modifiedStatus: [{ ...pod, patch: "{}" }] },
      "modified",
    ],
  ];
  for (const [what, status, state] of cases) {
    test(`${what} is ${state ?? "none"}`, () => {
      assert.equal(stateOfPod(status), state);
    });
  }

  test("that is ready in an earlier content is Waiting", () => {
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

  test("are those of the agent", () => {
    assert.deepEqual(objectCounts(aDeployment("paris", { status })), resourceCounts);
    assert.equal(objectCounts(aDeployment("paris")), undefined);
  });

  test("count ready objects of an earlier content as waiting", () => {
    const spec = { deploymentID: digestB, stagedDeploymentID: digestB };

    assert.deepEqual(objectCounts(aDeployment("paris", { status, spec })), {
      ...resourceCounts,
      ready: 0,
      waitApplied: 3,
    });
  });
});

test("the name of an object is parsed from its id", () => {
  assert.deepEqual(nameOfId(idOf(pod)), pod);
  assert.deepEqual(nameOfId(idOf({ kind: "Node", name: "n", apiVersion: "v1" })), {
    apiVersion: "v1",
    kind: "Node",
    namespace: "",
    name: "n",
  });
});
