import assert from "node:assert/strict";
import { growthOf } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createPatternBudget } from "./budget.ts";
import { createPatterns } from "./patterns.ts";

const enough = () => createPatternBudget(10_000);

const url = "https://charts.example.com/stable";

/** What Go's regexp returns for `^(?:PATTERN)$`. */
const answers: readonly (readonly [pattern: string, text: string, kind: "yes" | "no"])[] = [
  ["https://charts\\.example\\.com/.*", url, "yes"],
  ["https://charts\\.example\\.com", url, "no"],
  ["charts\\.example\\.com/.*", url, "no"],
  ["^https://charts\\.example\\.com/.*$", url, "yes"],
  ["a|ab", "ab", "yes"],
  ["a??b??", "ab", "yes"],
  ["a.*?|abc", "abcd", "yes"],
  ["(?i)HTTPS://CHARTS\\.EXAMPLE\\.COM/STABLE", url, "yes"],
  ["\\Ahttps://.*\\z", url, "yes"],
  ["a$", "a\n", "no"],
  ["(?m)^a$", "a\nb", "no"],
  [".*", "a\nb", "no"],
  ["(?s).*", "a\nb", "yes"],
  ["(?P<host>[[:alnum:]]+)", "host1", "yes"],
  ["\\pL+", "größe", "yes"],
  ["\\d", "٣", "no"],
  ["\\Qa.b\\E", "a.b", "yes"],
  ["a{,3}", "a{,3}", "yes"],
];
for (const [pattern, text, kind] of answers) {
  test(`${pattern} ${kind === "yes" ? "matches" : "does not match"} ${JSON.stringify(text)}, as in Go`, () => {
    assert.deepEqual(createPatterns().match(pattern, text, enough()), { kind });
  });
}

const unusable: readonly (readonly [what: string, pattern: string])[] = [
  ["a group that is not closed", "https://("],
  ["a group that is not opened, which would escape the anchors", "a)|(?:b"],
  ["lookahead, which RE2 does not have", "(?=a)a"],
  ["back references, which RE2 does not have", "(a)\\1"],
  ["a count beyond RE2's own limit", "a{1001}"],
  ["counts within counts beyond RE2's own limit", "(a{100}){100}"],
  ["a size that takes too long to compile", "(a?){1000}".repeat(20)],
  ["a length above the limit", "a".repeat(2_049)],
  ["hundreds of classes, each of hundreds of ranges", "\\pL".repeat(300)],
];
for (const [what, pattern] of unusable) {
  test(`a pattern with ${what} is invalid, and the error names the cause`, () => {
    const match = createPatterns().match(pattern, "a", enough());

    assert.ok(match.kind === "unusable");
    assert.match(match.why, /regexp|too/);
  });
}

const expensive: readonly (readonly [what: string, pattern: string, text: string])[] = [
  ["nested repetitions", "(a+)+", `${"a".repeat(2_047)}!`],
  ["alternatives of the same text", "(a|a|aa)*", `${"a".repeat(2_047)}!`],
  ["many stars", `${"a*".repeat(100)}b`, "a".repeat(2_048)],
  ["many counts", "(a?){700}a{700}", "a".repeat(2_048)],
  ["a count of groups", "((a{1,30}){1,30})", "a".repeat(2_048)],
];
for (const [what, pattern, text] of expensive) {
  test(`${what} take linear time`, () => {
    const growth = growthOf({ small: 128, large: 2_048 }, (length) => {
      const { kind } = createPatterns().match(pattern, text.slice(-length), enough());
      if (length === text.length) assert.notEqual(kind, "yes");
    });

    assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
  });
}

test("patterns and texts whose concatenation is the same have separate cache entries", () => {
  const patterns = createPatterns();

  assert.equal(patterns.match("a", "ab", enough()).kind, "no");
  assert.equal(patterns.match("aa", "b", enough()).kind, "no");
  assert.equal(patterns.match("", "aab", enough()).kind, "no");
  assert.equal(patterns.match("aab", "", enough()).kind, "no");
  assert.equal(patterns.match("ab?", "ab", enough()).kind, "yes");
});

describe("a budget for several calls", () => {
  /** The largest that is allowed: each new text costs as much as a hundred plain ones. */
  const expensive = "(a?b?){450}[ab]{0,450}$";

  test("ends the work over many texts, and what comes after it", () => {
    const tags = Array.from({ length: 8_000 }, (_, at) => `v1.0.${at}-${"ab".repeat(55)}`);

    const growth = growthOf({ small: 500, large: tags.length }, (count) => {
      const patterns = createPatterns();
      const budget = createPatternBudget(50);
      const kinds = tags
        .slice(0, count)
        .map((tag) => patterns.findWithin(expensive, tag, budget).kind);
      assert.equal(kinds.at(-1), "spent");
      assert.equal(patterns.findWithin("a", "a", budget).kind, "spent");
    });

    assert.ok(growth < 0.5, `it grows with the power of ${growth}`);
  });

  test("ends the work over many patterns", () => {
    const growth = growthOf({ small: 50, large: 400 }, (count) => {
      const patterns = createPatterns();
      const budget = createPatternBudget(50);
      const kinds = Array.from(
        { length: count },
        (_, at) => patterns.findWithin(`${expensive}|${at}`, "a", budget).kind,
      );
      assert.equal(kinds.at(-1), "spent");
    });

    assert.ok(growth < 0.5, `it grows with the power of ${growth}`);
  });

  test("is not needed for what was answered before", () => {
    const patterns = createPatterns();
    assert.equal(patterns.match("a+", "aa", enough()).kind, "yes");

    assert.equal(patterns.match("a+", "aa", createPatternBudget(0)).kind, "yes");
    assert.equal(patterns.match("a+", "ab", createPatternBudget(0)).kind, "spent");
  });
});
