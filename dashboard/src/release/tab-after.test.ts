import assert from "node:assert/strict";
import { test } from "vitest";
import { tabAfter } from "./tab-after.ts";

const cases = [
  ["the right arrow goes to the next tab", "ArrowRight", 1, 2],
  ["the right arrow goes from the last tab to the first one", "ArrowRight", 5, 0],
  ["the left arrow goes to the previous tab", "ArrowLeft", 1, 0],
  ["the left arrow goes from the first tab to the last one", "ArrowLeft", 0, 5],
  ["Home goes to the first tab", "Home", 3, 0],
  ["End goes to the last tab", "End", 3, 5],
  ["other keys go nowhere", "Enter", 3, undefined],
] as const;
test.each(cases)("%s", (_, key, focused, next) => {
  assert.equal(tabAfter(key, focused, 6), next);
});
