import assert from "node:assert/strict";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import { describe, test } from "vitest";
import {
  type DownstreamObject,
  type DownstreamPlan,
  planDownstreamResource,
} from "./downstream-object.ts";

const place = { namespace: "shop", owner: "web" };
const object: ReferencedObjectData = { type: "Opaque", data: { a: "MQ==" }, labels: { team: "a" } };

function plan(existing: DownstreamObject | undefined, source = object): DownstreamPlan {
  return planDownstreamResource(
    { ref: { kind: "Secret", name: "login" }, object: source },
    existing,
    place,
  );
}

/** The object of the first plan, as the API server stores it. */
const stored: DownstreamObject = {
  ...objectOf(plan(undefined)),
  metadata: { ...objectOf(plan(undefined)).metadata, uid: "u", resourceVersion: "1" },
};

function objectOf(step: DownstreamPlan): DownstreamObject {
  assert.notEqual(step.kind, "none");
  return step.kind === "none" ? { metadata: { name: "" } } : step.object;
}

describe("a downstream resource", () => {
  test("has the type, data, labels and annotations, and the label of its deployment", () => {
    assert.deepEqual(plan(undefined, { ...object, annotations: { note: "n" } }), {
      kind: "create",
      object: {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          namespace: "shop",
          name: "login",
          labels: { team: "a", "fleet.cattle.io/bundledeployment": "web" },
          annotations: { note: "n" },
        },
        type: "Opaque",
        data: { a: "MQ==" },
      },
    });
  });

  test("of a ConfigMap has no type", () => {
    const ref = { kind: "ConfigMap", name: "settings" } as const;
    const { type, data, binaryData } = objectOf(
      planDownstreamResource(
        { ref, object: { data: { a: "1" }, binaryData: { b: "AA==" } } },
        undefined,
        place,
      ),
    );

    assert.deepEqual([type, data, binaryData], [undefined, { a: "1" }, { b: "AA==" }]);
  });

  const steps: readonly (readonly [
    string,
    DownstreamObject,
    ReferencedObjectData,
    DownstreamPlan["kind"],
  ])[] = [
    ["does not change if it is up to date", stored, object, "none"],
    ["is replaced when the data changed", stored, { ...object, data: { a: "Mg==" } }, "replace"],
    ["is replaced when a label changed", stored, { ...object, labels: { team: "b" } }, "replace"],
    ["is recreated when the type changed", stored, { ...object, type: "other" }, "recreate"],
    [
      "is recreated when it is immutable",
      { ...stored, immutable: true },
      { ...object, data: {} },
      "recreate",
    ],
    [
      "keeps labels and annotations of others",
      { ...stored, metadata: { ...stored.metadata, annotations: { theirs: "1" } } },
      object,
      "none",
    ],
  ];
  for (const [what, existing, source, kind] of steps) {
    test(what, () => {
      assert.equal(plan(existing, source).kind, kind);
    });
  }

  test("stays immutable when its labels change, as the API server requires", () => {
    const step = plan({ ...stored, immutable: true }, { ...object, labels: { team: "b" } });

    assert.equal(step.kind, "replace");
    assert.equal(objectOf(step).immutable, true);
    assert.equal(objectOf(plan({ ...stored, immutable: true }, { data: {} })).immutable, undefined);
  });

  test("is replaced with its resourceVersion", () => {
    assert.equal(
      objectOf(plan(stored, { ...object, data: {} })).metadata.resourceVersion,
      stored.metadata.resourceVersion,
    );
  });
});
