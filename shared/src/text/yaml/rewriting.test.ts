import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { isChangedByRewriting } from "./rewriting.ts";

describe("a text that a program may change that reads and writes it again", () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["folded text", "a: >\n  b\n    c\n", true],
    ["folded text with an indicator", "a: >2-\n    b\n", true],
    ["folded text after a tag and a comment", "a: !!str >- # why\n  b\n", true],
    ["folded text in a list", "- >\n  b\n", true],
    ["an anchor", "a: &b {c: d}\n", true],
    ["an alias without its anchor", "a: *b\n", true],
    ["an alias in flow style", "{a: [*b]}", true],
    ["a merge of an alias", "a:\n  <<: *b\n", true],
    ["literal text", "a: |\n  > b\n  &c *d\n", false],
    ["quoted texts", 'a: ">"\nb: \'&c\'\nd: "*e"\n', false],
    ["these characters inside of words", "a: b > c & d * e\nf: -->\n", false],
    ["a comment", "a: b # > &c *d\n# >\n", false],
    ["a key with them", "a>b&c*: d\n", false],
    ["no such character", "a: b\n", false],
  ];
  for (const [what, text, expected] of cases)
    test(`${expected ? "has" : "does not need"} ${what}`, () =>
      assert.equal(isChangedByRewriting(text), expected));
});
