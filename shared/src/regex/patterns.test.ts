import assert from "node:assert/strict";
import { cpuMs } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { createPatterns } from "./patterns.ts";

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
    assert.deepEqual(createPatterns().match(pattern, text), { kind });
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
];
for (const [what, pattern] of unusable) {
  test(`a pattern with ${what} is invalid, and the error names the cause`, () => {
    const match = createPatterns().match(pattern, "a");

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
  test(`${what} take only milliseconds`, () => {
    const patterns = createPatterns();

    const used = cpuMs(() => assert.notEqual(patterns.match(pattern, text).kind, "yes"));

    // About 20 ms here; a backtracking engine would need exponential time.
    assert.ok(used < 2_000, `${used} ms`);
  });
}

test("patterns and texts whose concatenation is the same have separate cache entries", () => {
  const patterns = createPatterns();

  assert.equal(patterns.match("a", "ab").kind, "no");
  assert.equal(patterns.match("aa", "b").kind, "no");
  assert.equal(patterns.match("", "aab").kind, "no");
  assert.equal(patterns.match("aab", "").kind, "no");
  assert.equal(patterns.match("ab?", "ab").kind, "yes");
});
