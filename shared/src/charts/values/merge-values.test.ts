import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { canonicalJson, parseExact, rawNumber } from "../../text/json/index.ts";
import { mergeValues, type Values } from "./merge-values.ts";

describe("merging values over others", () => {
  const cases: readonly (readonly [what: string, base: Values, over: Values, merged: Values])[] = [
    ["merges maps deeply", { a: { b: 1, c: 2 } }, { a: { c: 3 } }, { a: { b: 1, c: 3 } }],
    ["replaces a list by a list", { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ["replaces a list by a map", { a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
    ["replaces a map by a scalar", { a: { b: 1 } }, { a: 1 }, { a: 1 }],
    ["keeps a null, for Helm to remove the default", { a: 1 }, { a: null }, { a: null }],
    [
      "treats empty values as values",
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

  test("treats a number with more digits than a JavaScript number as a number, not a map", () => {
    const merged = mergeValues({ id: rawNumber("12345678901234567890") }, { id: { a: 1 } });

    assert.deepEqual(merged, { id: { a: 1 } });
  });

  test("supports any names of JSON objects", () => {
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
        // Merging the same again changes nothing, and modifies neither input.
        assert.equal(canonicalJson(mergeValues(merged, json(over))), canonicalJson(merged));
      }),
    );
  });

  /** Values as they are after parsing. */
  function json(values: Values): Values {
    return parseExact(canonicalJson(values)) as Values;
  }
});
