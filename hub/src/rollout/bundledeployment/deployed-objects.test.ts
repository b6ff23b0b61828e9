import assert from "node:assert/strict";
import type { UnreadyResource } from "@flotilla/proto";
import { describe, test } from "vitest";
import { deployed } from "../../testing/index.ts";
import { deployedObjects, withoutObjects } from "./deployed-objects.ts";

function pod(name: string, changes: Partial<UnreadyResource> = {}): UnreadyResource {
  return {
    apiVersion: "v1",
    kind: "Pod",
    namespace: "shop",
    name,
    state: "failed",
    message: "x",
    ...changes,
  };
}

describe("the objects of a deployment", () => {
  test("are listed with their state only when they are not ready", () => {
    const { resources, incompleteState } = deployedObjects(
      deployed({ resources: [pod("a", { state: "ready" }), pod("b")] }),
    );

    const listed = { apiVersion: "v1", kind: "Pod", namespace: "shop" };
    assert.deepEqual(resources, [
      { ...listed, name: "a" },
      { ...listed, name: "b", state: "failed" },
    ]);
    assert.equal(incompleteState, undefined);
  });

  test("have no lists when there are no objects", () => {
    assert.deepEqual(Object.keys(deployedObjects(deployed())), ["resourceCounts"]);
  });

  const summaries: readonly (readonly [UnreadyResource["state"], object])[] = [
    ["in-progress", { transitioning: true }],
    ["terminating", { transitioning: true }],
    ["failed", { error: true }],
    ["unknown", {}],
  ];
  for (const [state, flags] of summaries) {
    test(`that are ${state} have that state`, () => {
      const { nonReadyStatus } = deployedObjects(deployed({ notReady: [pod("a", { state })] }));

      assert.deepEqual(nonReadyStatus?.[0]?.summary, { state, ...flags, message: ["x"] });
    });
  }

  test("that are missing count as modified", () => {
    const { modifiedStatus, nonReadyStatus } = deployedObjects(
      deployed({ notReady: [pod("a", { state: "missing" })] }),
    );

    assert.deepEqual(modifiedStatus, [
      { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "a", missing: true },
    ]);
    assert.equal(nonReadyStatus, undefined);
  });

  test("are bounded in size, however long their names and messages are", () => {
    const long = "n".repeat(250);
    const many = Array.from({ length: 64 }, (_, index) =>
      pod(`${long}${index}`, {
        message: "m".repeat(16_000),
        state: index % 2 === 0 ? "missing" : "failed",
      }),
    );

    const objects = deployedObjects(deployed({ notReady: many, resources: many }));

    assert.equal(objects.incompleteState, true);
    assert.ok(JSON.stringify(objects).length < 3_600);
  });

  test("that the agent omitted are reported as omitted", () => {
    assert.equal(deployedObjects(deployed({ incomplete: true })).incompleteState, true);
  });

  test("are the first ones that the agent lists, so that the list is stable", () => {
    const many = Array.from({ length: 64 }, (_, index) => pod(`p${index}`, { state: "ready" }));

    const { resources = [] } = deployedObjects(deployed({ resources: many }));

    assert.ok(resources !== null && resources.length > 5);
    assert.deepEqual(
      resources.map(({ name }) => name),
      many.slice(0, resources.length).map(({ name }) => name),
    );
  });

  test("can be removed from a status", () => {
    const objects = deployedObjects(deployed({ resources: [pod("a")], notReady: [pod("a")] }));

    assert.deepEqual(withoutObjects({ ready: true, ...objects }), { ready: true });
  });
});
