import assert from "node:assert/strict";
import { parseHelmYaml } from "@flotilla/shared/yaml/helm-yaml.ts";
import fc from "fast-check";
import { describe, test } from "vitest";
import { chartsOwn, crdsOf, withKeptCrds } from "./crd-documents.ts";

const crd = (metadata: string, spec = "spec: {group: example.com}"): string =>
  `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n${metadata}\n${spec}\n`;
const named = "metadata:\n  name: cars.example.com";
const config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: CustomResourceDefinition\n";

describe("of a manifest's CustomResourceDefinitions", () => {
  const cases: readonly (readonly [
    what: string,
    manifest: string,
    crds: readonly (readonly [name: string, isSettledByChart: boolean])[],
  ])[] = [
    ["none are found where there are none", config, []],
    ["none are found in an empty one", "", []],
    [
      "each is found",
      `---\n${crd(named)}---\n${config}---\n${crd('metadata: {"name": b}')}`,
      [
        ["cars.example.com", false],
        ["b", false],
      ],
    ],
    [
      "one is found behind other documents that cannot be read",
      `---\n{{\n---\n${crd(named)}`,
      [["cars.example.com", false]],
    ],
    [
      "one is found that begins in the line of the separator",
      `---${crd(named)}`,
      [["cars.example.com", false]],
    ],
    [
      "the chart's own policy is seen",
      crd(`${named}\n  annotations:\n    helm.sh/resource-policy: keep`),
      [["cars.example.com", true]],
    ],
    [
      "another policy of the chart's is seen",
      crd(`${named}\n  annotations: {"helm.sh/resource-policy": delete}`),
      [["cars.example.com", true]],
    ],
    [
      "what was added is none of the chart's",
      withKeptCrds(crd(named)),
      [["cars.example.com", false]],
    ],
    [
      "those in a list are found",
      `kind: List\napiVersion: v1\nitems:\n- ${crd(named).replaceAll("\n", "\n  ")}\n- {kind: Secret}\n`,
      [["cars.example.com", false]],
    ],
    [
      "one of JSON is found",
      JSON.stringify(parseHelmYaml(crd(named), { name: "it" })),
      [["cars.example.com", false]],
    ],
    [
      "a kind of the same name of somebody else's is none",
      crd(named).replace("apiextensions.k8s.io", "example.com"),
      [],
    ],
  ];
  for (const [what, manifest, crds] of cases) {
    test(what, () => {
      assert.deepEqual(
        crdsOf(manifest).map(({ name, isSettledByChart }) => [name, isSettledByChart]),
        crds,
      );
    });
  }
});

describe("of a manifest by which Helm leaves them", () => {
  const own = "# by Flotilla, unless deleteCRDResources";
  const cases: readonly (readonly [what: string, before: string, after: string])[] = [
    [
      "the annotation is in a line of its own",
      `---\n# Source: a\n${crd(`${named}\n  labels: {a: b}`)}---\n${config}`,
      `---\n# Source: a\n${crd(`metadata:\n  annotations: ${own}\n    helm.sh/resource-policy: keep ${own}\n  name: cars.example.com\n  labels: {a: b}`)}---\n${config}`,
    ],
    [
      "it is beside others, as deep as they are",
      crd("metadata:\n    # ours\n    annotations: # theirs\n\n        a: b\n    name: x"),
      crd(
        `metadata:\n    # ours\n    annotations: # theirs\n        helm.sh/resource-policy: keep ${own}\n\n        a: b\n    name: x`,
      ),
    ],
    [
      "annotations of something else are none of its own",
      crd(named, "spec:\n  annotations:\n    a: b"),
      crd(
        `metadata:\n  annotations: ${own}\n    helm.sh/resource-policy: keep ${own}\n  name: cars.example.com`,
        "spec:\n  annotations:\n    a: b",
      ),
    ],
    [
      "annotations that say nothing become some",
      crd("metadata:\n  annotations:\n  name: x"),
      crd(`metadata:\n  annotations:\n    helm.sh/resource-policy: keep ${own}\n  name: x`),
    ],
    [
      "one that is in one line gets lines",
      "---\n# Source: a\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x, annotations: {a: b}}\nspec: {big: 9007199254740993}\n",
      `---\n# Source: a\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep ${own}\n    "a": "b"\n  "name": "x"\n"spec": {"big":9007199254740993}\n`,
    ],
    [
      "one in a list stands alone, the rest of the list stays",
      '---\n# Source: a\n{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"x"}},{"kind":"Secret"}]}\n',
      `---\n# Source: a\n{"apiVersion":"v1","items":[{"kind":"Secret"}],"kind":"List"}\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations: ${own}\n    helm.sh/resource-policy: keep ${own}\n  "name": "x"\n`,
    ],
    [
      "what the chart says stays",
      crd(`${named}\n  annotations:\n    "helm.sh/resource-policy": delete`),
      crd(`${named}\n  annotations:\n    "helm.sh/resource-policy": delete`),
    ],
    ["what is none stays to the byte", `---\n${config}\n--- \n{{`, `---\n${config}\n--- \n{{`],
  ];
  for (const [what, before, after] of cases) {
    test(what, () => {
      assert.equal(withKeptCrds(before), after);
      assert.equal(withKeptCrds(after), after);
    });
  }

  test("lines that end as on Windows are left as they are", () => {
    const before = crd(`${named}\n  annotations:\n    a: b`).replaceAll("\n", "\r\n");

    const after = withKeptCrds(before);

    assert.deepEqual(annotationsIn(after), { a: "b", "helm.sh/resource-policy": "keep" });
    assert.equal(chartsOwn(after), before);
  });
});

test("one that gets no line and cannot be read is not left without its annotation in silence", () => {
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
    blank: fc.constantFrom([], [""], ["# aside"]),
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

describe("however a definition is written", () => {
  test("it gets the annotation and nothing else, once, and loses it to the byte where it had a place for it", () => {
    fc.assert(
      fc.property(metadataLines, fc.boolean(), (metadata, isLast) => {
        const [kind, version, ...rest] = crd(metadata).split("\n");
        const before = isLast ? crd(metadata) : [...rest, kind, version, ""].join("\n");

        const after = withKeptCrds(before);

        assert.equal(withKeptCrds(after), after);
        const value = parseHelmYaml(before, { name: "before" });
        assert.deepEqual(parseHelmYaml(after, { name: "after" }), annotated(value));
        assert.deepEqual(withKeptCrds(chartsOwn(after)), after);
        if (!metadata.includes("{")) assert.equal(chartsOwn(after), before);
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
