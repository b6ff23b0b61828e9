import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type HelmHook, hookManifest, hookObjects, hooksOf } from "./hooks.ts";
import { ownedObjects, readYamlDocument } from "./manifest.ts";

const block = (name: string, more = "") =>
  `# Source: web/templates/${name}.yaml\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: ${name}\n${more}spec: {}\n`;
const stored = (name: string, more: object = {}) => ({
  ...{ name, kind: "Job", path: "web/templates/a.yaml", manifest: block(name) },
  ...{ events: ["pre-install"], weight: 0 },
  ...more,
});

function read(hooks: readonly unknown[]) {
  const found = hooksOf(hooks);
  return hookObjects(found, ownedObjects(hookManifest(found), readYamlDocument));
}

const job = { apiVersion: "batch/v1", kind: "Job" };
const common = { events: ["pre-install"], weight: 0, deletePolicies: [] };

describe("hooks as Helm stores them", () => {
  const cases: readonly (readonly [string, unknown, readonly object[]])[] = [
    [
      "that have not run",
      stored("a", { last_run: { phase: "" } }),
      [{ ...job, ...common, name: "a" }],
    ],
    [
      "with a result, a weight and policies",
      stored("a", {
        ...{ last_run: { phase: "Failed" }, weight: -5 },
        ...{ delete_policies: ["hook-succeeded"], events: ["pre-install", "pre-upgrade"] },
      }),
      [
        {
          ...{ ...job, name: "a", events: ["pre-install", "pre-upgrade"], weight: -5 },
          ...{ deletePolicies: ["hook-succeeded"], phase: "Failed" },
        },
      ],
    ],
    [
      "with a phase of another Helm",
      stored("a", { last_run: { phase: "Odd" } }),
      [{ ...job, ...common, name: "a", phase: "Unknown" }],
    ],
    [
      "in another namespace",
      stored("a", { manifest: block("a", "  namespace: other\n") }),
      [{ ...job, ...common, name: "a", namespace: "other" }],
    ],
    [
      "in flow style",
      stored("a", { manifest: '{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"}}' }),
      [{ ...job, ...common, name: "a" }],
    ],
    [
      "with generateName",
      stored("", { manifest: "kind: Job\nmetadata: {generateName: a-}\n" }),
      [],
    ],
    ["whose manifest names another object", stored("a", { manifest: block("b") }), []],
    ["that are no objects", "x", []],
    ["with an endless name", stored("a", { manifest: block("a".repeat(10_000)) }), []],
  ];
  test.each(cases)("%s", (_, hook, expected) => {
    assert.deepEqual(read([hook]), expected);
  });

  test("of which only so many are kept", () => {
    const many = Array.from({ length: 60 }, (_, index) => stored(`a${index}`));

    assert.equal(read(many).length, 50);
  });

  test("keep their own results where one of them cannot be read", () => {
    const broken: HelmHook = {
      ...{ kind: "Job", name: "broken", events: [], weight: 0, deletePolicies: [], head: "{" },
    };
    const [, second] = hooksOf([stored("x"), stored("a", { weight: 3 })]);
    assert.ok(second !== undefined);
    const hooks = [broken, second];

    assert.deepEqual(
      hookObjects(hooks, ownedObjects(hookManifest(hooks), readYamlDocument)).map(
        ({ name, weight }) => [name, weight],
      ),
      [["a", 3]],
    );
  });
});
