import assert from "node:assert/strict";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import fc from "fast-check";
import { describe, test } from "vitest";
import * as documents from "./crd-documents.ts";
import { readYamlDocument } from "./manifest.ts";

const { withoutAdditions } = documents;
const crdsOf = (manifest: string) => documents.crdsOf(manifest, readYamlDocument);
const withKeptCrds = (manifest: string) => documents.withKeptCrds(manifest, readYamlDocument);

const crd = (metadata: string, spec = "spec: {group: example.com}"): string =>
  `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n${metadata}\n${spec}\n`;
const named = "metadata:\n  name: cars.example.com";
const config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: CustomResourceDefinition\n";

describe("the CustomResourceDefinitions of a manifest", () => {
  const cases: readonly (readonly [
    what: string,
    manifest: string,
    crds: readonly (readonly [name: string, hasOwnPolicy: boolean])[],
  ])[] = [
    ["are none in a manifest without them", config, []],
    ["are none in an empty manifest", "", []],
    [
      "are all found",
      `---\n${crd(named)}---\n${config}---\n${crd('metadata: {"name": b}')}`,
      [
        ["cars.example.com", false],
        ["b", false],
      ],
    ],
    [
      "are found after documents that cannot be parsed",
      `---\n{{\n---\n${crd(named)}`,
      [["cars.example.com", false]],
    ],
    [
      "are found on the line of the document separator",
      `---${crd(named)}`,
      [["cars.example.com", false]],
    ],
    [
      "have a policy of the chart if the chart sets keep",
      crd(`${named}\n  annotations:\n    helm.sh/resource-policy: keep`),
      [["cars.example.com", true]],
    ],
    [
      "have a policy of the chart if the chart sets another value",
      crd(`${named}\n  annotations: {"helm.sh/resource-policy": delete}`),
      [["cars.example.com", true]],
    ],
    [
      "have no policy of the chart if the agent added it",
      withKeptCrds(crd(named)),
      [["cars.example.com", false]],
    ],
    [
      "are found in a list",
      `kind: List\napiVersion: v1\nitems:\n- ${crd(named).replaceAll("\n", "\n  ")}\n- {kind: Secret}\n`,
      [["cars.example.com", false]],
    ],
    [
      "are found in JSON",
      JSON.stringify(parseHelmYaml(crd(named), { name: "it" })),
      [["cars.example.com", false]],
    ],
    [
      "do not include a kind of the same name in another group",
      crd(named).replace("apiextensions.k8s.io", "example.com"),
      [],
    ],
  ];
  for (const [what, manifest, crds] of cases) {
    test(what, () => {
      assert.deepEqual(
        crdsOf(manifest).map(({ name, hasOwnPolicy }) => [name, hasOwnPolicy]),
        crds,
      );
    });
  }
});

describe("a manifest whose definitions Helm keeps", () => {
  const own = "# by Flotilla, unless deleteCRDResources";
  const cases: readonly (readonly [what: string, before: string, after: string])[] = [
    [
      "has the annotation on a separate line",
      `---\n# Source: a\n${crd(`${named}\n  labels: {a: b}`)}---\n${config}`,
      `---\n# Source: a\n${crd(`metadata:\n  annotations: ${own}\n    helm.sh/resource-policy: keep ${own}\n  name: cars.example.com\n  labels: {a: b}`)}---\n${config}`,
    ],
    [
      "has the annotation beside others, with their indentation",
      crd("metadata:\n    # ours\n    annotations: # theirs\n\n        a: b\n    name: x"),
      crd(
        `metadata:\n    # ours\n    annotations: # theirs\n        helm.sh/resource-policy: keep ${own}\n\n        a: b\n    name: x`,
      ),
    ],
    [
      "ignores annotations of other fields",
      crd(named, "spec:\n  annotations:\n    a: b"),
      crd(
        `metadata:\n  annotations: ${own}\n    helm.sh/resource-policy: keep ${own}\n  name: cars.example.com`,
        "spec:\n  annotations:\n    a: b",
      ),
    ],
    [
      "has the annotation in an empty annotations field",
      crd("metadata:\n  annotations:\n  name: x"),
      crd(`metadata:\n  annotations:\n    helm.sh/resource-policy: keep ${own}\n  name: x`),
    ],
    [
      "rewrites flow style in block style",
      "---\n# Source: a\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x, annotations: {a: b}}\nspec: {big: 9007199254740993}\n",
      `---\n# Source: a\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep ${own}\n    "a": "b"\n  "name": "x"\n"spec": {"big":9007199254740993}\n`,
    ],
    [
      "splits a list",
      '---\n# Source: a\n{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"x"}},{"kind":"Secret"}]}\n',
      `---\n# Source: a\n{"apiVersion":"v1","items":[{"kind":"Secret"}],"kind":"List"}\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations: ${own}\n    helm.sh/resource-policy: keep ${own}\n  "name": "x"\n`,
    ],
    [
      "keeps the chart's policy",
      crd(`${named}\n  annotations:\n    "helm.sh/resource-policy": delete`),
      crd(`${named}\n  annotations:\n    "helm.sh/resource-policy": delete`),
    ],
    ["keeps other documents byte by byte", `---\n${config}\n--- \n{{`, `---\n${config}\n--- \n{{`],
  ];
  for (const [what, before, after] of cases) {
    test(what, () => {
      assert.equal(withKeptCrds(before), after);
      assert.equal(withKeptCrds(after), after);
    });
  }

  test("keeps CRLF line ends", () => {
    const before = crd(`${named}\n  annotations:\n    a: b`).replaceAll("\n", "\r\n");

    const after = withKeptCrds(before);

    assert.deepEqual(annotationsIn(after), { a: "b", "helm.sh/resource-policy": "keep" });
    assert.equal(withoutAdditions(after), before);
  });
});

test("throws for a definition that cannot be annotated", () => {
  const unreadable = crd("metadata: {name: x}", "spec: {\n");

  assert.throws(() => withKeptCrds(unreadable), { code: "CRDS_NOT_KEPT" });
});

function annotationsIn(document: string): unknown {
  const value = parseHelmYaml(document, { name: "it" });
  const metadata = typeof value === "object" && value !== null && Reflect.get(value, "metadata");
  return typeof metadata === "object" && metadata !== null && Reflect.get(metadata, "annotations");
}

const indented = (indent: number, lines: readonly string[]): readonly string[] =>
  lines.map((line) => `${" ".repeat(indent)}${line}`);
const entry = fc
  .tuple(
    fc.stringMatching(/^[a-z]{1,8}(\/[a-z]{1,8})?$/),
    fc.constantFrom("b", '"#"', "'x: y'", "|-\n      t"),
  )
  .map(([key, value]) => `${key}x: ${value}`);
const metadataLines = fc
  .record({
    depth: fc.integer({ min: 1, max: 4 }),
    extra: fc.integer({ min: 1, max: 4 }),
    annotations: fc.option(
      fc.uniqueArray(entry, { maxLength: 3, selector: (text) => text.split(":")[0] }),
    ),
    isFlow: fc.boolean(),
    comment: fc.constantFrom("", " # why", "  "),
    blank: fc.constantFrom([], [""], ["# comment"]),
    isNameFirst: fc.boolean(),
  })
  .map(({ depth, extra, annotations, isFlow, comment, blank, isNameFirst }) => {
    const annotated =
      annotations === null
        ? []
        : isFlow
          ? ["annotations: {a: b}"]
          : [
              `annotations:${comment}`,
              ...blank,
              ...indented(
                extra,
                annotations.filter((text) => !text.includes("\n")),
              ),
            ];
    const named = ["name: cars.example.com", ...blank];
    const parts = isNameFirst ? [...named, ...annotated] : [...annotated, ...named];
    return [`metadata:${comment}`, ...blank, ...indented(depth, parts)].join("\n");
  });

describe("a definition in any style", () => {
  test("has only the annotation added, once; removing an added line restores the original bytes", () => {
    fc.assert(
      fc.property(metadataLines, fc.boolean(), (metadata, isLast) => {
        const [kind, version, ...rest] = crd(metadata).split("\n");
        const before = isLast ? crd(metadata) : [...rest, kind, version, ""].join("\n");

        const after = withKeptCrds(before);

        assert.equal(withKeptCrds(after), after);
        const value = parseHelmYaml(before, { name: "before" });
        assert.deepEqual(parseHelmYaml(after, { name: "after" }), annotated(value));
        assert.deepEqual(withKeptCrds(withoutAdditions(after)), after);
        if (!metadata.includes("{")) assert.equal(withoutAdditions(after), before);
      }),
    );
  });
});

function annotated(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const metadata: unknown = Reflect.get(value, "metadata");
  if (typeof metadata !== "object" || metadata === null) return value;
  const annotations: unknown = Reflect.get(metadata, "annotations");
  return {
    ...value,
    metadata: {
      ...metadata,
      annotations: {
        ...(typeof annotations === "object" && annotations),
        "helm.sh/resource-policy": "keep",
      },
    },
  };
}
