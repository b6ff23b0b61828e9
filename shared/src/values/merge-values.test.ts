import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { canonicalJson, parseExact, rawNumber } from "../json/index.ts";
import { mergeValues, type Values } from "./merge-values.ts";

describe("values over others", () => {
  const cases: readonly (readonly [what: string, base: Values, over: Values, merged: Values])[] = [
    ["maps are merged deeply", { a: { b: 1, c: 2 } }, { a: { c: 3 } }, { a: { b: 1, c: 3 } }],
    ["a list replaces a list", { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ["a map replaces a list", { a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
    ["a scalar replaces a map", { a: { b: 1 } }, { a: 1 }, { a: 1 }],
    ["a null stays, for Helm to remove the default", { a: 1 }, { a: null }, { a: null }],
    [
      "empty values are values",
      { a: 1, b: 1, c: 1 },
      { a: 0, b: "", c: false },
      { a: 0, b: "", c: false },
    ],
  ];
  for (const [what, base, over, merged] of cases) {
    test(what, () => {
      assert.deepEqual(mergeValues(base, over), merged);
    });
  }

  test("a number with more digits than JavaScript holds is a number, not a map", () => {
    const merged = mergeValues({ id: rawNumber("12345678901234567890") }, { id: { a: 1 } });

    assert.deepEqual(merged, { id: { a: 1 } });
  });

  test("merging supports any names of JSON objects", () => {
    const values = fc.dictionary(
      fc.oneof(fc.constantFrom("a", "b", "__proto__", "constructor"), fc.string()),
      fc.jsonValue({ depthSize: "small" }),
      { maxKeys: 5 },
    );
    fc.assert(
      fc.property(values, values, (base, over) => {
        const merged = mergeValues(json(base), json(over));

        assert.deepEqual(
          new Set(Object.keys(merged)),
          new Set([...Object.keys(base), ...Object.keys(over)]),
        );
        // Merging the same once more changes nothing, and changes neither of the two.
        assert.equal(canonicalJson(mergeValues(merged, json(over))), canonicalJson(merged));
      }),
    );
  });

  /** As values are after they were read. */
  function json(values: Values): Values {
    return parseExact(canonicalJson(values)) as Values;
  }
});
