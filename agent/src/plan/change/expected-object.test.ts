import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { mergedObject, withoutRemoved } from "./expected-object.ts";

function form(fields: object): KubeObject {
  return { metadata: { name: "a" }, ...fields };
}
const container = (name: string, more: object = {}) => ({ name, image: "i", ...more });

describe("what an object becomes without the API server", () => {
  test("has what is desired, and keeps what only the cluster has", () => {
    const live = form({
      spec: { replicas: 1, paused: true, list: [container("a", { tty: true })] },
    });
    const desired = form({ spec: { replicas: 2, list: [{ name: "a", image: "j" }] } });

    assert.deepEqual(
      mergedObject(live, desired),
      form({ spec: { replicas: 2, paused: true, list: [{ name: "a", image: "j", tty: true }] } }),
    );
  });

  const cases: readonly (readonly [string, object, object, object, object])[] = [
    ["a key that the manifest had", { a: 1, b: 2 }, { a: 1 }, {}, { b: 2 }],
    ["nothing that others have added", { a: 1, b: 2 }, {}, {}, { a: 1, b: 2 }],
    ["a key that becomes null", { a: 1 }, { a: 1 }, { a: null }, {}],
    [
      "an item by its name",
      { list: [container("a"), container("sidecar"), container("b")] },
      { list: [container("a"), container("b")] },
      { list: [container("a")] },
      { list: [container("a"), container("sidecar")] },
    ],
    [
      "a field of an item",
      { list: [container("a", { tty: true })] },
      { list: [container("a", { tty: true })] },
      { list: [container("a")] },
      { list: [container("a")] },
    ],
    [
      "an item without a name",
      { list: ["x", "y", "z"] },
      { list: ["x", "y"] },
      { list: ["x"] },
      { list: ["x", "z"] },
    ],
  ];
  for (const [name, live, before, after, expected] of cases)
    test(`a patch by the client removes ${name}`, () =>
      assert.deepEqual(
        withoutRemoved(form({ spec: live }), form({ spec: before }), form({ spec: after })),
        form({ spec: expected }),
      ));
});
