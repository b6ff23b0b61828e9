import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { cleanText, isPrintable } from "./validation.ts";

const cases: readonly (readonly [string, string, string])[] = [
  ["keeps ordinary text", "web: 3 of 5 Pods\tübrig\n…", "web: 3 of 5 Pods\tübrig\n…"],
  ["has no escape codes", "\u001b[31mred", "\ufffd[31mred"],
  ["has no carriage return", "done\rfailed", "done\ufffdfailed"],
  ["has no direction change", "\u202etxt.exe", "\ufffdtxt.exe"],
  ["has no lone surrogate", "a\ud83d", "a\ufffd"],
  ["is not cut within a surrogate pair", `${"a".repeat(9)}😀`, `${"a".repeat(9)}\ufffd`],
  ["is cut to the limit", "a".repeat(11), "a".repeat(10)],
];

describe("text from the other side", () => {
  for (const [name, value, expected] of cases)
    test(name, () => assert.equal(cleanText(value, name.includes("cut") ? 10 : 100), expected));

  test("is short and printable after sanitizing, and sanitizing it again changes nothing", () => {
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
