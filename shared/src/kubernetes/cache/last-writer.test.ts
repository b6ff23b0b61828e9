import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { KubeObject, ManagedFieldsEntry } from "../objects/index.ts";
import { keepLastWriter, lastWriterOf } from "./last-writer.ts";

const spec = { "f:spec": {} };
const writer = (manager: string, time: string, more: Partial<ManagedFieldsEntry> = {}) => ({
  ...{ manager, time, operation: "Update", fieldsV1: spec },
  ...more,
});
const objectOf = (...managedFields: readonly ManagedFieldsEntry[]): KubeObject => ({
  metadata: { name: "web", managedFields },
});

describe("the last writer of a spec", () => {
  const rows: readonly (readonly [string, readonly ManagedFieldsEntry[], string | undefined])[] = [
    ["is nobody without managedFields", [], undefined],
    [
      "is the newest",
      [
        writer("kubectl-edit", "2026-01-02T00:00:00Z"),
        writer("argocd", "2026-01-03T00:00:00Z", { operation: "Apply" }),
        writer("kubectl-create", "2026-01-01T00:00:00Z"),
      ],
      "argocd",
    ],
    [
      "is not who wrote the status",
      [
        writer("kubectl-edit", "2026-01-01T00:00:00Z"),
        writer("flotilla-hub", "2026-01-02T00:00:00Z", { subresource: "status" }),
      ],
      "kubectl-edit",
    ],
    [
      "is not who added a finalizer",
      [
        writer("kubectl-edit", "2026-01-01T00:00:00Z"),
        writer("flotilla-hub", "2026-01-02T00:00:00Z", { fieldsV1: { "f:metadata": {} } }),
      ],
      "kubectl-edit",
    ],
  ];
  for (const [name, entries, expected] of rows)
    test(name, () => {
      assert.equal(lastWriterOf(objectOf(...entries))?.manager, expected);
    });

  test("is all that a store keeps of managedFields", () => {
    const { metadata } = keepLastWriter(
      objectOf(writer("a", "2026-01-01T00:00:00Z"), writer("b", "2026-01-02T00:00:00Z")),
    );
    assert.deepEqual(metadata.managedFields, [
      { manager: "b", operation: "Update", time: "2026-01-02T00:00:00Z" },
    ]);
    assert.deepEqual(keepLastWriter({ metadata: { name: "web" } }), { metadata: { name: "web" } });
  });
});
