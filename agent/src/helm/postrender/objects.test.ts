import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { objectsOfManifest, objectsOfRelease, rejectUnreadable } from "./objects.ts";

const file = "postrenderer.helm.sh/postrender-filename";
const map = (name: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...more,
});
const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

describe("what Helm passes to a post-renderer", () => {
  const read: readonly (readonly [string, string, readonly unknown[]])[] = [
    ["objects", `${head}---\n${head}`, [map("a"), map("a")]],
    [
      "the last one of two equal keys",
      `${head}data:\n  tier: front\n  tier: back\n`,
      [map("a", { data: { tier: "back" } })],
    ],
    ["scalars as Helm reads them", `${head}spec: {a: yes}\n`, [map("a", { spec: { a: true } })]],
    [
      "the objects of a list, in the list's file",
      `kind: ConfigMapList\nmetadata: {annotations: {${file}: c/x.yaml}}\nitems: [{kind: A, metadata: {name: a}}]\n`,
      [{ kind: "A", metadata: { name: "a", annotations: { [file]: "c/x.yaml" } } }],
    ],
    ["nothing, from a chart without objects", "", []],
    ["nothing, from a comment", "# nothing\n", []],
  ];
  for (const [what, manifest, expected] of read)
    test(`is read as ${what}`, () => assert.deepEqual(objectsOfManifest(manifest), expected));

  const changed: readonly (readonly [string, string])[] = [
    ["folded text", `${head}data:\n  a: >\n    b\n\n      c\n`],
    ["an anchor", `${head}data: &a {b: c}\n`],
    ["an alias whose anchor is in another document", `${head}data: *a\n`],
    ["what is not YAML", `${head}data: [\n`],
  ];
  for (const [what, manifest] of changed)
    test(`is not read if it has ${what}, which Helm may have changed`, () =>
      assert.equal(objectsOfManifest(`${head}---\n${manifest}`), undefined));
});

describe("a release that Helm has rendered without a post-renderer", () => {
  test("has its objects and hooks, each with the chart's file", () => {
    const manifest = `---\n# Source: c/templates/a.yaml\n${head}data:\n  text: >\n    b\n      c\n---\n# Source: c/charts/d/templates/b.yaml\nkind: List\nitems:\n- {kind: A, metadata: {name: a}, data: &s {b: c}}\n- {kind: A, metadata: {name: b, annotations: {d: e}}, data: *s}\n`;
    const hook = { path: "c/templates/hook.yaml", manifest: head, name: "a", events: [] };

    const of = (path: string, more: object = {}): object => ({
      annotations: { ...more, [file]: path },
    });
    assert.deepEqual(objectsOfRelease(JSON.stringify({ manifest, hooks: [hook] })), [
      map("a", {
        metadata: { name: "a", ...of("c/templates/a.yaml") },
        data: { text: "b\n  c\n" },
      }),
      {
        kind: "A",
        metadata: { name: "a", ...of("c/charts/d/templates/b.yaml") },
        data: { b: "c" },
      },
      {
        kind: "A",
        metadata: { name: "b", ...of("c/charts/d/templates/b.yaml", { d: "e" }) },
        data: { b: "c" },
      },
      map("a", { metadata: { name: "a", ...of("c/templates/hook.yaml") } }),
    ]);
  });

  test("sets Helm's annotation on no alias of the annotations", () => {
    const manifest = `---\n# Source: c/a.yaml\nkind: A\nmetadata: {name: a, annotations: &a {x: z}}\nspec: {template: {metadata: {annotations: *a}}}\n`;

    assert.deepEqual(objectsOfRelease(JSON.stringify({ manifest })), [
      {
        kind: "A",
        metadata: { name: "a", annotations: { x: "z", [file]: "c/a.yaml" } },
        spec: { template: { metadata: { annotations: { x: "z" } } } },
      },
    ]);
  });

  test("may have no object", () => {
    assert.deepEqual(objectsOfRelease(JSON.stringify({ manifest: "", hooks: null })), []);
  });

  test("that cannot be read is an error with the chart's file", () => {
    const manifest = "---\n# Source: c/templates/a.yaml\na: [\n";

    assert.throws(
      () => objectsOfRelease(JSON.stringify({ manifest })),
      /read c\/templates\/a\.yaml, line/,
    );
  });
});

test("a character that kustomize would replace is an error with the object", () => {
  rejectUnreadable([map("a", { data: { text: "\\u0085 \u2028" } })]);
  assert.throws(
    () => rejectUnreadable([map("a"), map("b", { data: { text: "c\u0085d" } })]),
    /^Error: ConfigMap b has the character U\+0085/,
  );
});
