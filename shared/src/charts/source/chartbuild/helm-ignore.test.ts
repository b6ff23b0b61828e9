import { describe, expect, test } from "vitest";
import { parseHelmIgnore } from "./index.ts";

describe("the rules of .helmignore", () => {
  // As in the tests of Helm.
  test.each<[string, string, boolean, boolean]>([
    ["helm.txt", "helm.txt", false, true],
    ["helm.*", "helm.txt", false, true],
    ["helm.*", "rudder.txt", false, false],
    ["*.txt", "docs/helm.txt", false, true],
    ["docs/*.txt", "docs/helm.txt", false, true],
    ["docs/*", "docs/a/b.txt", false, false],
    ["/*.txt", "helm.txt", false, true],
    ["/*.txt", "docs/helm.txt", false, false],
    ["cargo/", "cargo", true, true],
    ["cargo/", "cargo", false, false],
    ["!helm.txt", "helm.txt", false, false],
    ["!helm.txt", "tiller.txt", false, true],
    ["!*.txt", "cargo", true, true],
    ["[hj]elm.tx?", "helm.txt", false, true],
    ["[^hj]elm.txt", "helm.txt", false, false],
    ["[a-c]*", "b.txt", false, true],
    ["a\\*", "a*", false, true],
    ["a\\*", "ab", false, false],
    ["# comment\n\n  x  ", "x", false, true],
    ["\ufeffx", "x", false, true],
    ["", "templates/.dotfile", false, true],
    ["", "templates/", true, false],
    ["", "templates/a/.dotfile", false, false],
  ])("%j of %j (directory: %j) is %j", (text, path, isDirectory, expected) => {
    expect(parseHelmIgnore(text).ignores(path, isDirectory)).toBe(expected);
  });

  test.each(["a/**", "[a-]", "[a", "a\\", "[]a]"])("%j is rejected", (rule) => {
    expect(() => parseHelmIgnore(rule)).toThrow(/is rejected by Helm/);
  });

  test("a pattern with many stars takes no time", () => {
    const rules = parseHelmIgnore(`${"*a".repeat(50)}b`);
    expect(rules.ignores("a".repeat(200), false)).toBe(false);
  });
});
