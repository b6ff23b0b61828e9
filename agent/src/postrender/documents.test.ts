import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { joinDocuments, kustomizationOf, toBatches, withNames, withoutNames } from "./documents.ts";

function config(name: string, more = ""): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}`;
}

function batches(...documents: readonly string[]): readonly string[] {
  return toBatches(joinDocuments(documents)).map(({ manifest }) => manifest);
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
    [
      "in flow style have names, too",
      [config("a"), '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}\n'],
      [[config("a")], ['{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}\n']],
    ],
    [
      "without a name, such as lists, are in the first batch",
      ["kind: List\nitems: []\n", "kind: List\nitems: []\n", "a: b\n"],
      [["kind: List\nitems: []\n", "kind: List\nitems: []\n", "a: b\n"]],
    ],
    [
      "keep lines that look like separators inside of texts",
      [config("a", "data:\n  text: |\n    ---\n    b\n")],
      [[config("a", "data:\n  text: |\n    ---\n    b\n")]],
    ],
    ["are none in an empty manifest", ["", "\n"], []],
  ];
  for (const [what, documents, expected] of cases)
    test(what, () => assert.deepEqual(batches(...documents), expected.map(joinDocuments)));
});

describe("the patches of a batch", () => {
  const all = toBatches(joinDocuments([config("a"), config("b"), config("a")]));
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

describe("objects with generateName", () => {
  const generated =
    "apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: a-\n  labels:\n    b: c\n";

  test("get a name, which is removed again", () => {
    const manifest = joinDocuments([config("a"), generated, generated]);
    const named = withNames(manifest, "unnamed-");

    assert.match(named, /^ {2}name: unnamed-1\n {2}generateName: a-$/m);
    assert.match(named, /^ {2}name: unnamed-2$/m);
    assert.equal(toBatches(named).length, 1);
    assert.equal(withoutNames(named, "unnamed-"), manifest);
  });

  test("get one in flow style, too", () => {
    const named = withNames("kind: Pod\nmetadata: {generateName: a-}\n", "unnamed-");

    assert.equal(named, "kind: Pod\nmetadata: {name: unnamed-0, generateName: a-}\n");
  });

  test("keep the name that they have", () => {
    const manifest = "kind: Pod\nmetadata:\n  generateName: a-\n  name: b\n";

    assert.equal(withNames(manifest, "unnamed-"), manifest);
  });
});
