import assert from "node:assert/strict";
import type { Values } from "@flotilla/shared/values";
import fc from "fast-check";
import { describe, test } from "vitest";
import { type ValueLayer, valuesWithOrigin } from "./value-origins.ts";

/** Layers that are known by their index. */
const numbered = (layers: readonly Values[]): readonly ValueLayer[] =>
  layers.map((values, index) => ({
    values,
    origin: { kind: "ConfigMap", name: String(index), key: "" },
  }));

const found = (layers: readonly Values[]) =>
  valuesWithOrigin(numbered(layers)).map(({ path, value, origin }) => ({
    ...{ path, value, layer: origin.kind === "ConfigMap" ? Number(origin.name) : -1 },
  }));

describe("the origin of a value", () => {
  const rows: readonly (readonly [
    string,
    readonly Values[],
    readonly (readonly [string, number])[],
  ])[] = [
    [
      "is the only layer that has it",
      [{ a: 1 }, { b: 2 }],
      [
        ["a", 0],
        ["b", 1],
      ],
    ],
    ["is the last layer that has it, also with the same value", [{ a: 1 }, { a: 1 }], [["a", 1]]],
    [
      "is found for each value of maps that are merged",
      [{ a: { b: 1, c: 1 } }, { a: { c: 2 } }],
      [
        ["a.b", 0],
        ["a.c", 1],
      ],
    ],
    ["is that of the list as a whole", [{ a: [1, 2] }, { a: [3] }], [["a", 1]]],
    ["is the layer that replaced a map by a value", [{ a: { b: 1 } }, { a: 1 }], [["a", 1]]],
    ["is the layer that replaced a value by a map", [{ a: 1 }, { a: { b: 1 } }], [["a.b", 1]]],
    [
      "is found for an empty map",
      [{ a: {} }, { b: 1 }],
      [
        ["a", 0],
        ["b", 1],
      ],
    ],
  ];
  for (const [name, layers, expected] of rows)
    test(name, () => {
      assert.deepEqual(
        found(layers).map(({ path, layer }) => [path, layer]),
        expected,
      );
    });

  test("is a layer that has that very value", () => {
    const values = fc.dictionary(
      fc.constantFrom("a", "b"),
      fc.oneof(fc.integer(), fc.dictionary(fc.constantFrom("a", "b"), fc.integer())),
    );
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 4 }), (layers) => {
        for (const { path, value, layer } of found(layers)) {
          const keys = path.split(".");
          const own = keys.reduce<unknown>(
            (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
            layers[layer],
          );
          assert.deepEqual(own, value);
        }
      }),
    );
  });
});
