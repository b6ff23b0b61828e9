import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { wordsOf } from "./condition-words.ts";

describe("a condition in words", () => {
  const cases = [
    ["Ready", "True", "good"],
    ["Ready", "False", "bad"],
    ["Accepted", "False", "bad"],
    ["Reconciling", "True", "busy"],
    ["Stalled", "True", "bad"],
    ["Stalled", "False", "good"],
    ["Drifted", "True", "warn"],
    ["FetchFailed", "True", "bad"],
    ["FetchFailed", "False", "good"],
    ["Deployed", "Unknown", "busy"],
    ["ArtifactInStorage", "True", "good"],
    ["BuildFailed", "True", "bad"],
    ["RolledOut", "False", "bad"],
    ["IncludeUnavailable", "True", "bad"],
  ] as const;
  for (const [type, status, tone] of cases)
    test(`${type}=${status} is a sentence, and ${tone}`, () => {
      const words = wordsOf({ type, status });
      assert.equal(words.tone, tone);
      assert.match(words.text, /^[A-Z].*\.$/);
    });

  test("of an unknown type is its status, which is neither good nor bad", () => {
    assert.deepEqual(wordsOf({ type: "Pinned", status: "False" }), { tone: "off", text: "False" });
  });
});
