import assert from "node:assert/strict";
import { growthOf } from "@flotilla/shared/time/testing";
import { readGolden } from "@flotilla/shared/version/testing";
import { describe, test } from "vitest";
import { reread, styleOf, type TextPlace, type TextStyle } from "./reread.ts";

/** The style of a string in Go's output. */
function styleIn(written: string): TextStyle {
  if (/^["']/.test(written)) return "quoted";
  return written.startsWith("|") ? "block" : "plain";
}

const { questions, answers } = await readGolden("values-rows");

describe("Go writes", () => {
  for (const [at, text] of (questions.styles ?? []).entries()) {
    test(`${JSON.stringify(text)} in the expected style`, () => {
      const { value, item, key } = answers.styles?.[at] ?? { value: "", item: "", key: "" };

      const written = [
        value.slice("v: ".length),
        item.slice("- ".length),
        // A key of several lines is explicit.
        key.replace(/^\? /, ""),
      ];
      assert.deepEqual(new Set(written.map(styleIn)), new Set([styleOf(text)]));
    });
  }
});

describe("a rendered string is parsed again", () => {
  const rows: readonly (readonly [
    what: string,
    text: string,
    rendered: string,
    place: TextPlace,
    expected: unknown,
  ])[] = [
    ["as YAML where it was plain", "${ 1 }", "3", "value", 3],
    ["as null where it is empty", "${ 1 }", "", "value", null],
    ["as a map in a list", "${ 1 }", "a: 1", "item", { a: 1 }],
    ["as a map on separate lines", "${ 1 }", "\n  a: 1\n  b: 2", "value", { a: 1, b: 2 }],
    ["without a comment", "${ 1 }", "a #b", "value", "a"],
    ["as a key, which is text", "${ 1 }", "3", "key", "3"],
    ["as text where it was quoted", " ${ 1 }", "3", "value", "3"],
    ["with one line end after a block", "a\n${ 1 }\n", "a\n\n\n", "value", "a\n"],
    [
      "with all line ends after a block that had several",
      "${ 1 }\n\n",
      "a\n\n\n",
      "value",
      "a\n\n\n",
    ],
    ["with no line end after a block that had none", "a\n${ 1 }", "a\nb\n", "value", "a\nb"],
    ["as an empty string where a block is empty", "${ 1 }\n${ 2 }\n", "\n\n", "value", ""],
  ];
  for (const [what, text, rendered, place, expected] of rows) {
    test(what, () => {
      assert.deepEqual(reread(text, rendered, place), expected);
    });
  }

  const invalid: readonly (readonly [rendered: string, place: TextPlace, why: RegExp])[] = [
    ["a\nb: 1", "value", /one value/],
    ["a\n- b", "item", /one value/],
    ["a\n---\nb: 1", "value", /several documents/],
    ["a\n...\n", "item", /several documents/],
    ["a\nb", "key", /several lines/],
    ["#a", "key", /one key/],
    ["- a", "key", /one key/],
    ["a: b", "value", /not YAML/],
    ["*a", "value", /not YAML/],
    ["@", "item", /not YAML/],
  ];
  for (const [rendered, place, why] of invalid) {
    test(`but rejected if it is ${JSON.stringify(rendered)} as ${place}`, () => {
      assert.throws(() => reread("${ 1 }", rendered, place), {
        name: "TemplateError",
        message: why,
      });
    });
  }
});

test("adversarial lines are parsed in linear time", () => {
  const growth = growthOf({ small: 4_000, large: 32_000 }, (size) => {
    const lines = `${"\n".repeat(size)}a`;
    assert.equal(reread("a\nb ${ 1 }\n", `${lines}\n\n`, "value"), `${lines}\n`);
  });

  assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
});
