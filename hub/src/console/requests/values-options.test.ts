import assert from "node:assert/strict";
import { wireLimits } from "@flotilla/proto";
import type { Bundle, Cluster } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { valuesOptions } from "./values-options.ts";

const cluster = { metadata: { name: "paris", labels: { region: "eu" } } } as unknown as Cluster;

const bundle = (targets: readonly object[]) =>
  ({ metadata: { name: "web" }, spec: { targets } }) as unknown as Bundle;

describe("what a target adds to the values", () => {
  const eu = { name: "europe", clusterSelector: { matchLabels: { region: "eu" } } };
  const rows: readonly (readonly [string, readonly object[], string, readonly string[]])[] = [
    ["is nothing where no target matches", [{ clusterName: "lyon" }], "", []],
    ["is nothing where the target has no values", [eu], "target europe", []],
    [
      "is each of its values, by its path",
      [{ ...eu, helm: { values: { a: { "b/c": 1, list: [1, 2] }, d: null } } }],
      "target europe",
      ["a.b/c", "a.list", "d"],
    ],
    [
      "is also its templateValues",
      [{ ...eu, helm: { values: { a: 1 }, templateValues: { b: "c: 1" } } }],
      "target europe",
      ["a", "b"],
    ],
    ["is not an empty map", [{ ...eu, helm: { values: { a: {} } } }], "target europe", []],
    [
      "is that of the first target that matches",
      [
        { clusterName: "lyon", helm: { values: { a: 1 } } },
        { clusterName: "paris", helm: { values: { b: 1 } } },
        { ...eu, helm: { values: { c: 1 } } },
      ],
      "target 2",
      ["b"],
    ],
  ];
  for (const [name, targets, target, targetPaths] of rows)
    test(name, () => {
      assert.deepEqual(valuesOptions(bundle(targets), cluster, []), { target, targetPaths });
    });

  test("is limited to what a message takes", () => {
    const values = Object.fromEntries(
      Array.from({ length: wireLimits.targetPaths + 1 }, (_, index) => [`k${index}`, index]),
    );
    const long = { ["k".repeat(2_000)]: 1 };
    const { targetPaths } = valuesOptions(
      bundle([{ ...eu, helm: { values: { ...long, ...values } } }]),
      cluster,
      [],
    );
    assert.equal(targetPaths.length, wireLimits.targetPaths);
    assert.equal(targetPaths[0], "k0");
  });
});
