import assert from "node:assert/strict";
import { test } from "vitest";
import { isLaterVersion } from "./object.ts";

const cases: readonly (readonly [string | undefined, string | undefined, boolean])[] = [
  ["2", "1", true],
  ["1", "2", false],
  ["7", "7", false],
  ["10", "9", true],
  ["9", "10", false],
  ["9007199254740993", "9007199254740992", true],
  ["1", undefined, true],
  [undefined, "1", false],
  [undefined, undefined, false],
  ["", undefined, false],
  ["0", undefined, false],
  ["v2", "1", false],
  ["2", "v1", false],
  ["2", "0", false],
];

for (const [one, other, expected] of cases) {
  test(`${one ?? "no version"} is ${expected ? "" : "not "}later than ${other ?? "none"}`, () => {
    assert.equal(isLaterVersion(one, other), expected);
  });
}
