import assert from "node:assert/strict";
import type { ReferencedObjectData } from "@flotilla/shared/referenced/referenced-object.ts";
import { describe, test } from "vitest";
import { type CopyObject, type CopyStep, planCopy } from "./copy-object.ts";

const place = { namespace: "shop", owner: "web" };
const object: ReferencedObjectData = { type: "Opaque", data: { a: "MQ==" }, labels: { team: "a" } };

function plan(existing: CopyObject | undefined, source = object): CopyStep {
  return planCopy({ ref: { kind: "Secret", name: "login" }, object: source }, existing, place);
}

/** As the API server keeps what was made. */
const made: CopyObject = {
  ...copyOf(plan(undefined)),
  metadata: { ...copyOf(plan(undefined)).metadata, uid: "u", resourceVersion: "1" },
};

function copyOf(step: CopyStep): CopyObject {
  assert.notEqual(step.kind, "none");
  return step.kind === "none" ? { metadata: { name: "" } } : step.object;
}

describe("a copy of what the hub supplied", () => {
  test("has its type, data, labels and annotations, and says for which deployment it was made", () => {
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
    const { type, data, binaryData } = copyOf(
      planCopy({ ref, object: { data: { a: "1" }, binaryData: { b: "AA==" } } }, undefined, place),
    );

    assert.deepEqual([type, data, binaryData], [undefined, { a: "1" }, { b: "AA==" }]);
  });

  const steps: readonly (readonly [string, CopyObject, ReferencedObjectData, CopyStep["kind"]])[] =
    [
      ["is left alone when it is as it should be", made, object, "none"],
      ["is replaced when the data changed", made, { ...object, data: { a: "Mg==" } }, "replace"],
      ["is replaced when a label changed", made, { ...object, labels: { team: "b" } }, "replace"],
      ["is made anew when the type changed", made, { ...object, type: "other" }, "make anew"],
      [
        "is made anew when it cannot be changed",
        { ...made, immutable: true },
        { ...object, data: {} },
        "make anew",
      ],
      [
        "keeps what somebody else has put on it",
        { ...made, metadata: { ...made.metadata, annotations: { theirs: "1" } } },
        object,
        "none",
      ],
    ];
  for (const [what, existing, source, kind] of steps) {
    test(what, () => {
      assert.equal(plan(existing, source).kind, kind);
    });
  }

  test("stays what cannot be changed when its labels are, which the API server insists on", () => {
    const step = plan({ ...made, immutable: true }, { ...object, labels: { team: "b" } });

    assert.equal(step.kind, "replace");
    assert.equal(copyOf(step).immutable, true);
    assert.equal(copyOf(plan({ ...made, immutable: true }, { data: {} })).immutable, undefined);
  });

  test("is never laid over a newer one", () => {
    assert.equal(
      copyOf(plan(made, { ...object, data: {} })).metadata.resourceVersion,
      made.metadata.resourceVersion,
    );
  });
});
