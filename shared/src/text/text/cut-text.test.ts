import assert from "node:assert/strict";
import { test } from "vitest";
import { cutText } from "./cut-text.ts";

test("a long text is truncated between characters", () => {
  assert.equal(cutText("abc", 5), "abc");
  assert.equal(cutText("abcdef", 4), "abc…");
  assert.equal(cutText("ab\u{1F6A2}c", 4), "ab…");
});
