import assert from "node:assert/strict";
import { test } from "vitest";
import { keyText } from "./key.ts";

test("a float as a key is written as Go writes a 32-bit float", () => {
  const texts = [1.5, 1e9, 123456.7, 123456789.5, 0.0001, 0.00001, -1, 1e39, 1 / 3, 16777217].map(
    (value) => keyText({ kind: "float", value }),
  );

  assert.deepEqual(texts, [
    ...[
      "1.5",
      "1e+09",
      "123456.7",
      "1.2345679e+08",
      "0.0001",
      "1e-05",
      "-1",
      ".inf",
      "0.33333334",
      "1.6777216e+07",
    ],
  ]);
});

test("null and an integer of 2^63 are not keys", () => {
  assert.equal(keyText({ kind: "null" }), undefined);
  assert.equal(keyText({ kind: "int", value: 2n ** 63n }), undefined);
  assert.equal(keyText({ kind: "int", value: 2n ** 63n - 1n }), "9223372036854775807");
});
