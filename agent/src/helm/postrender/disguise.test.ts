import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { createDisguise } from "./disguise.ts";

const local = "config.kubernetes.io/local-config";
const step = (patch: string) => ({
  field: "postRenderers[0]",
  kustomization: { patches: [{ patch }] },
});

/** Objects in disguise have two spaces before a name, as kustomize prints them. */
function print(object: unknown): string {
  return JSON.stringify(object, undefined, 2).replaceAll('"', "").replaceAll(/^ {2}/gm, "");
}

describe("an object for kustomize", () => {
  const changed: readonly (readonly [string, string])[] = [
    ["leaves it out", local],
    ["removes it", "config.kubernetes.io/index"],
    ["removes it, too", "internal.config.kubernetes.io/index"],
    ["takes it for its own", "kustomize.config.k8s.io/behavior"],
  ];
  for (const [why, name] of changed)
    test(`has another word for ${name}, because kustomize ${why}`, () => {
      const disguise = createDisguise([step("kind: A")], "m-");
      const object = { metadata: { name: "a", annotations: { [name]: "true", other: "b" } } };

      const text = print(disguise.of(object));

      assert.ok(!text.includes(name), text);
      assert.match(text, /other: b/);
      assert.equal(disguise.undo(text), print(object));
      assert.equal(disguise.explain(text), print(object));
    });

  test("keeps more than ten such annotations apart", () => {
    const disguise = createDisguise([], "m-");
    const names = Array.from({ length: 12 }, (_, at) => [`config.kubernetes.io/a${at}`, "b"]);
    const object = { metadata: { annotations: Object.fromEntries(names) } };

    assert.equal(disguise.undo(print(disguise.of(object))), print(object));
  });

  const kept: readonly (readonly [string, readonly ReturnType<typeof step>[], object])[] = [
    [
      "that a patch mentions",
      [step(`remove: /metadata/annotations/${local.replace("/", "~1")}`)],
      { [local]: "true" },
    ],
    ["of others", [], { "example.com/local-config": "true" }],
  ];
  for (const [what, steps, annotations] of kept)
    test(`has the annotation ${what} as it is`, () => {
      const object = { metadata: { name: "a", annotations } };

      assert.deepEqual(createDisguise(steps, "m-").of(object), object);
    });

  test("with a generated name gets one, which is removed again", () => {
    const disguise = createDisguise([], "m-");
    const pod = { kind: "Pod", metadata: { generateName: "a-" } };

    const [first, second] = [pod, pod].map(disguise.of);

    assert.deepEqual(first, { kind: "Pod", metadata: { generateName: "a-", name: "unnamed-m-0" } });
    assert.deepEqual(second, {
      kind: "Pod",
      metadata: { generateName: "a-", name: "unnamed-m-1" },
    });
    assert.equal(
      disguise.undo("metadata:\n  generateName: a-\n  name: unnamed-m-1\nspec: 1\n"),
      "metadata:\n  generateName: a-\nspec: 1\n",
    );
    assert.equal(disguise.explain("Pod/unnamed-m-1 is wrong"), "Pod/unnamed-1 is wrong");
  });

  const same: readonly (readonly [string, unknown])[] = [
    ["with both names", { metadata: { generateName: "a-", name: "b" } }],
    ["without metadata", { kind: "A" }],
    ["without annotations", { metadata: { name: "a", annotations: null } }],
    ["whose annotations are none", { metadata: { name: "a", annotations: "b" } }],
    ["that is none", "text"],
  ];
  for (const [what, object] of same)
    test(`${what} stays as it is`, () =>
      assert.deepEqual(createDisguise([], "m-").of(object), object));
});
