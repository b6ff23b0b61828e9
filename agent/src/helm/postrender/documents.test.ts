import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { joinDocuments, kustomizationOf, toBatches } from "./documents.ts";
import { objectsOfKustomize } from "./objects.ts";

function config(name: string, more = ""): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}`;
}

function batchesOf(...documents: readonly string[]): ReturnType<typeof toBatches> {
  return toBatches(objectsOfKustomize(joinDocuments(documents)));
}

/** The objects of each batch. */
function objects(manifests: readonly string[]): readonly (readonly unknown[])[] {
  return manifests.map(objectsOfKustomize);
}

describe("objects for kustomize", () => {
  const job = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\n";
  const cases: readonly (readonly [string, readonly string[], readonly (readonly string[])[]])[] = [
    ["stay together", [config("b"), config("a"), job], [[config("b"), config("a"), job]]],
    [
      "of one kind and name are in several batches",
      [config("a"), config("b"), config("a", "data: {}\n"), config("b")],
      [
        [config("a"), config("b")],
        [config("a", "data: {}\n"), config("b")],
      ],
    ],
    [
      "in the default namespace are the same with and without it",
      [config("a"), config("a", "  namespace: default\n"), config("a", "  namespace: other\n")],
      [[config("a"), config("a", "  namespace: other\n")], [config("a", "  namespace: default\n")]],
    ],
    ["that kustomize rejects are in the first batch", ["a: b\n", "a: b\n"], [["a: b\n", "a: b\n"]]],
    [
      "keep lines that look like separators inside of texts",
      [config("a", "data:\n  text: |\n    ---\n    b\n")],
      [[config("a", "data:\n  text: |\n    ---\n    b\n")]],
    ],
    ["are none in an empty manifest", ["", "\n"], []],
  ];
  for (const [what, documents, expected] of cases)
    test(what, () =>
      assert.deepEqual(
        objects(batchesOf(...documents).map(({ manifest }) => manifest)),
        objects(expected.map(joinDocuments)),
      ),
    );

  test("are written so that every parser of YAML reads the same", () => {
    const text = config(
      "a",
      "data: {a: yes, b: 0644, c: 1e3, d: 2001-01-01, e: 9007199254740993}\n",
    );

    assert.equal(
      batchesOf(text)[0]?.manifest,
      '{"apiVersion":"v1","data":{"a":true,"b":420,"c":1000,"d":"2001-01-01","e":9007199254740993},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
    );
  });
});

describe("the patches of a batch", () => {
  const all = batchesOf(config("a"), config("b"), config("a"));
  const patchesOf = (at: number, patches: { patch: string; target?: object }[]) =>
    kustomizationOf(
      { patches: patches.map((each) => ({ ...each, target: undefined })) },
      all,
      at,
    ).patches?.map(({ patch }) => patch);

  test("without a target are those of its objects", () => {
    const patches = [{ patch: config("a") }, { patch: config("b") }];

    assert.deepEqual(patchesOf(0, patches), [config("a"), config("b")]);
    assert.deepEqual(patchesOf(1, patches), [config("a")]);
  });

  test("that match no object at all are in the first, where they fail", () => {
    assert.deepEqual(patchesOf(0, [{ patch: config("missing") }]), [config("missing")]);
    assert.deepEqual(patchesOf(1, [{ patch: config("missing") }]), []);
  });

  test("with several objects are divided", () => {
    const patches = [{ patch: joinDocuments([config("a"), config("b")]) }];

    assert.deepEqual(patchesOf(0, patches), [config("a"), config("b")]);
    assert.deepEqual(patchesOf(1, patches), [config("a")]);
  });

  test("with a target are all of them, because a target may match nothing", () => {
    const kustomization = { patches: [{ patch: config("missing"), target: {} }] };

    assert.deepEqual(kustomizationOf(kustomization, all, 1), kustomization);
  });

  test("are all of them if there is only one batch", () => {
    const kustomization = { patches: [{ patch: joinDocuments([config("a"), config("b")]) }] };

    assert.equal(kustomizationOf(kustomization, all.slice(0, 1), 0), kustomization);
  });
});
