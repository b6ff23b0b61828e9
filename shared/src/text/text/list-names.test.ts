import assert from "node:assert/strict";
import { test } from "vitest";
import { listNames } from "./list-names.ts";

test.for([
  ["", ""],
  ["a", "a"],
  ["a b c d e", "a, b, c, d, e"],
  ["a b c d e f g", "a, b, c, d, e and 2 more"],
] as const)("the names %j are listed as %j", ([names, expected]) => {
  assert.equal(listNames(names === "" ? [] : names.split(" ")), expected);
});
