import assert from "node:assert/strict";
import { test } from "vitest";
import { cutMessage } from "./cut-message.ts";

test("a message of a few lines is shown whole", () => {
  for (const text of ["", "no chart", "one\ntwo\nthree", "a".repeat(440)])
    assert.deepEqual(cutMessage(text), { shown: text, hidden: 0 });
});

test("a longer one is cut between words, and says how much is left", () => {
  const text = "word ".repeat(200);
  const { shown, hidden } = cutMessage(text);
  assert.ok(shown.length <= 360 && shown.endsWith("word"));
  assert.equal(shown.length + hidden, text.length);
});

test("one of many lines is cut after the first ones", () => {
  assert.deepEqual(cutMessage("a\nb\nc\nd\ne\nf"), { shown: "a\nb\nc\nd", hidden: 4 });
});

test("a text without spaces is cut, too, and not within a character", () => {
  assert.equal(cutMessage("x".repeat(1_000)).shown.length, 360);
  assert.equal(cutMessage(`${"x".repeat(359)}😀${"x".repeat(500)}`).shown, "x".repeat(359));
});
