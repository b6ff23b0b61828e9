import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { compareValues, formatSort, parseSort, type SortValue } from "./sort.ts";

describe("the order of a table", () => {
  test("is in its address", () => {
    for (const text of ["", "Name", "-Ready", "Last seen"])
      assert.equal(formatSort(parseSort(text)), text);
    assert.deepEqual(parseSort("-Ready"), [{ id: "Ready", desc: true }]);
  });

  const cases: readonly (readonly [string, readonly SortValue[], readonly SortValue[]])[] = [
    ["compares numbers", [10, 9, 1], [1, 9, 10]],
    [
      "compares versions as Helm does",
      ["1.10.0", "1.10.0-rc.1", "v1.9.0"],
      ["v1.9.0", "1.10.0-rc.1", "1.10.0"],
    ],
    ["does not distinguish between capital and small letters", ["b", "A", "C"], ["A", "b", "C"]],
  ];
  for (const [name, values, sorted] of cases)
    test(name, () => {
      assert.deepEqual(values.toSorted(compareValues), sorted);
    });
});
