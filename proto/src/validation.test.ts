import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { cleanText, isPrintable } from "./validation.ts";

const cases: readonly (readonly [string, string, string])[] = [
  ["what people write stays", "web: 3 of 5 Pods\tübrig\n…", "web: 3 of 5 Pods\tübrig\n…"],
  ["what colours a terminal does not", "\u001b[31mred", "\ufffd[31mred"],
  ["what overwrites a line does not", "done\rfailed", "done\ufffdfailed"],
  ["what turns text round does not", "\u202etxt.exe", "\ufffdtxt.exe"],
  ["half a character does not", "a\ud83d", "a\ufffd"],
  ["a character is not cut in half", `${"a".repeat(9)}😀`, `${"a".repeat(9)}\ufffd`],
  ["what is too long is cut", "a".repeat(11), "a".repeat(10)],
];

suite("text of the other side", () => {
  for (const [name, value, expected] of cases)
    test(name, () => assert.equal(cleanText(value, name.includes("cut") ? 10 : 100), expected));

  test("is short enough and printable when it is cleaned, and stays as it is then", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(40), (value, most) => {
        const cleaned = cleanText(value, most);

        assert.ok(cleaned.length <= most);
        assert.equal(cleanText(cleaned, most), cleaned);
        assert.ok(isPrintable(cleaned.replaceAll(/[\t\n]/g, " ")));
      }),
    );
  });
});
