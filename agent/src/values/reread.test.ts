import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readGolden } from "@flotilla/shared/version/testing/golden-file.ts";
import { styleOf, type TextStyle } from "./reread.ts";

/** How a text was written, from what Go wrote before it and of it. */
function styleIn(written: string): TextStyle {
  if (/^["']/.test(written)) return "quoted";
  return written.startsWith("|") ? "block" : "plain";
}

const { questions, answers } = await readGolden("values-rows");

suite("Go writes", () => {
  for (const [at, text] of (questions.styles ?? []).entries()) {
    test(`${JSON.stringify(text)} as we think`, () => {
      const { value, item, key } = answers.styles?.[at] ?? { value: "", item: "", key: "" };

      const written = [
        value.slice("v: ".length),
        item.slice("- ".length),
        // A key of several lines is marked as one.
        key.replace(/^\? /, ""),
      ];
      assert.deepEqual(new Set(written.map(styleIn)), new Set([styleOf(text)]));
    });
  }
});
