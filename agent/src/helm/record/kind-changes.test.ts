import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type KindChange, withKindChanges } from "./kind-changes.ts";
import { ownedObjects, readYamlDocument } from "./manifest.ts";

const gone: KindChange = { apiVersion: "example.com/v1", kind: "Car" };
const moved: KindChange = { ...gone, servedAs: "example.com/v2" };
const car = (name: string, apiVersion = "example.com/v1") =>
  `# Source: cars/templates/${name}.yaml\napiVersion: ${apiVersion}\nkind: Car\nmetadata:\n  name: ${name}\nspec:\n  weight: 12345678901234567890\n`;
const config = `# Source: cars/templates/config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: Car # Car\ndata: {}\n`;
const flow = (apiVersion: string) =>
  `{"apiVersion":"${apiVersion}","kind":"Car","metadata":{"name":"b"}}\n`;
const list = (items: string) => `apiVersion: v1\nkind: List\nitems:\n${items}`;

const cases: readonly (readonly [
  what: string,
  change: KindChange,
  before: string,
  after: string,
])[] = [
  [
    "leaves out what is gone and nothing else",
    gone,
    `---\n${car("a")}---\n${config}---\n${car("b")}`,
    `---\n---\n${config}---\n`,
  ],
  ["is the same without objects of the kind", gone, `---\n${config}`, `---\n${config}`],
  [
    "is the same for a kind of the same name in another group",
    gone,
    `---\n${car("a", "other.com/v1")}`,
    `---\n${car("a", "other.com/v1")}`,
  ],
  [
    "has the served version in the line of the apiVersion",
    moved,
    `---\n${car("a")}---\n${config}`,
    `---\n${car("a", "example.com/v2")}---\n${config}`,
  ],
  [
    "has the served version of an object in JSON",
    moved,
    `---\n${flow("example.com/v1")}`,
    `---\n${flow("example.com/v2")}`,
  ],
  [
    "leaves items of a list out",
    gone,
    `---\n${list(`- ${flow("example.com/v1")}- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n`)}`,
    `---\n{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}],"kind":"List"}\n`,
  ],
  [
    "leaves a list out that would be empty",
    gone,
    `---\n${list(`- ${flow("example.com/v1")}`)}`,
    "---\n",
  ],
  [
    "keeps a list without the kind",
    gone,
    `---\n${list("- {apiVersion: v1, kind: Secret, metadata: {name: Car}}\n")}`,
    `---\n${list("- {apiVersion: v1, kind: Secret, metadata: {name: Car}}\n")}`,
  ],
  [
    "keeps what cannot be parsed",
    gone,
    "---\nkind: Car\napiVersion: [\n",
    "---\nkind: Car\napiVersion: [\n",
  ],
];

describe("a manifest of which the cluster does not serve a kind", () => {
  for (const [what, change, before, after] of cases)
    test(what, () => {
      assert.equal(withKindChanges(before, [change], readYamlDocument), after);
    });

  test("keeps all digits of numbers where a document is written again", () => {
    const text = `---\n${list(`- ${flow("example.com/v1")}- {apiVersion: v1, kind: Secret, metadata: {name: s}, weight: 12345678901234567890}\n`)}`;

    assert.match(withKindChanges(text, [gone], readYamlDocument), /"weight":12345678901234567890/);
  });

  test("has the other objects", () => {
    const after = withKindChanges(`---\n${car("a")}---\n${config}`, [gone], readYamlDocument);

    assert.deepEqual(
      ownedObjects(after, readYamlDocument).map(({ kind, name }) => [kind, name]),
      [["ConfigMap", "Car"]],
    );
  });
});
