import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTimeSlices } from "@flotilla/shared/concurrency";
import { growthOf } from "@flotilla/shared/time/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import {
  createIgnore,
  type Ignore,
  type IgnoreOptions,
  maxIgnoreBytes,
  maxIgnorePatterns,
} from "./ignore.ts";
import { type IgnorePattern, matchesPath, matchesPathOrParent, parsePattern } from "./pattern.ts";

describe("an ignore rule", () => {
  const everything = "/*\n!/deploy\n/deploy/**/*.md\n/deploy/**/*.txt";
  const cases: readonly (readonly [ignore: string, path: string, isIgnored: boolean])[] = [
    ["", "a", false],
    ["# a\n\n  \na", "a", true],
    ["a", "x/y/a", true],
    ["a", "x/a/y/z", true],
    ["/a", "x/a", false],
    ["x/a", "y/x/a", false],
    ["a/", "a", false],
    ["a/", "x/a/b", true],
    ["*.md", "docs/x.md", true],
    ["*.md", "docs/x.md.txt", false],
    ["**/b", "a/b", true],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**", "a/x", true],
    ["\\#a", "#a", true],
    ["\\!a", "!a", true],
    ["a\\ ", "a ", true],
    ["a  \r", "a", true],
    ["[a-c]?", "bé", true],
    ["[!a-c]", "b", false],
    ["[[:digit:]]", "7", true],
    ["[", "[", false],
    [everything, "README.md", true],
    [everything, "deploy/a/b.yaml", false],
    [everything, "deploy/a/b.md", true],
    ["a\n!a/b", "a/b", false],
    ["*\n!charts/**", "charts/x/Chart.yaml", false],
    ["*\n!charts/**", "other/x", true],
  ];
  for (const [ignore, path, isIgnored] of cases) {
    it(`${JSON.stringify(ignore)} ${isIgnored ? "leaves out" : "keeps"} ${path}`, async () => {
      const rules = createIgnore({ kind: "bucket", ignore });
      assert.equal(await rules.ignores(path, slices), isIgnored);
    });
  }

  it("of a directory holds below that directory, and spec.ignore has the last word", async () => {
    const files = [
      { directory: "", text: "a.txt" },
      { directory: "x/y", text: "/b.txt\n!a.txt" },
    ];
    const rules = createIgnore({ kind: "tree", files, ignore: "!z/a.txt\n/x/y/c.txt" });
    const paths = ["a.txt", "x/a.txt", "z/a.txt", "x/y/a.txt", "x/y/b.txt", "b.txt", "x/y/c.txt"];

    assert.deepEqual(await ignoredOf(rules, paths), [
      ...["a.txt", "x/a.txt", "x/y/b.txt", "x/y/c.txt"],
    ]);
  });

  const groups: readonly (readonly [options: IgnoreOptions, ignored: readonly string[]])[] = [
    [{ kind: "tree" }, [".git/config", "a/.gitignore", "x.png", ".github/y", "d/.sops.yaml"]],
    [
      { kind: "tree", ignore: "# none" },
      [".git/config", "a/.gitignore", "x.png", ".github/y", "d/.sops.yaml"],
    ],
    [{ kind: "tree", ignore: "b" }, [".git/config", "a/.gitignore"]],
    [{ kind: "bucket" }, []],
    [{ kind: "bucket", ignore: "x.png" }, ["x.png"]],
  ];
  for (const [options, ignored] of groups) {
    it(`of Flux itself holds for ${JSON.stringify(options)}`, async () => {
      const paths = [".git/config", "a/.gitignore", "x.png", ".github/y", "d/.sops.yaml"];
      const rules = createIgnore(options);
      assert.deepEqual(await ignoredOf(rules, paths), ignored);
    });
  }

  it("is refused when there are too many", () => {
    const ignore = "a\n".repeat(maxIgnorePatterns + 1);
    assert.throws(
      () => createIgnore({ kind: "bucket", ignore }),
      /spec\.ignore and \.sourceignore have more than 1000 patterns together/,
    );
  });

  const tooLong: readonly (readonly [what: string, ignore: string, message: RegExp])[] = [
    ["characters", "a".repeat(1_025), /spec\.ignore has a pattern of 1025 characters/],
    ["names", `${"a/".repeat(64)}a`, /spec\.ignore has a pattern of 65 names/],
    ["bytes", `#${"é".repeat(maxIgnoreBytes / 2)}`, /have 262145 bytes together, more than 262144/],
  ];
  for (const [what, ignore, message] of tooLong) {
    it(`is refused when it has too many ${what}`, () => {
      assert.throws(() => createIgnore({ kind: "bucket", ignore }), { message });
    });
  }

  it("of a file names it when a pattern is too long", () => {
    const files = [{ directory: "x/y", text: "a".repeat(1_025) }];
    assert.throws(() => createIgnore({ kind: "tree", files }), {
      message: /^x\/y\/\.sourceignore has a pattern/,
    });
  });

  it("pauses between the patterns for one path", async () => {
    const ignore = `${"*a".repeat(500)}b\n`.repeat(100);
    const path = `${"a/".repeat(500)}c`;
    let pauses = 0;
    const counting = {
      isOver: true,
      pause: () => {
        pauses += 1;
        return Promise.resolve();
      },
    };

    await createIgnore({ kind: "bucket", ignore }).ignores(path, counting);

    assert.equal(pauses, 100);
  });

  it("walks a path once, however deep it is", () => {
    const patterns = ["b", "a/b", "**/a/b/", "/c", "?b*"].map((line) => {
      const pattern = parsePattern(line);
      return pattern ?? assert.fail(line);
    });
    const growth = growthOf({ small: 500, large: 8_000 }, (size) => {
      const names = Array.from({ length: size }, () => "a");
      for (const pattern of patterns)
        assert.equal(matchesPathOrParent(pattern, names, false), false);
    });

    assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
  });

  it("is matched in linear time", () => {
    const patterns = [`${"*a".repeat(200)}b`, `${"**/a/".repeat(100)}b`].map((line) => {
      const pattern = parsePattern(line);
      return pattern ?? assert.fail(line);
    });
    const growth = growthOf({ small: 500, large: 8_000 }, (size) => {
      for (const path of [["a".repeat(size)], [..."a".repeat(size), "c"]])
        for (const pattern of patterns) assert.equal(matchesPath(pattern, path, false), false);
    });

    assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
  });
});

const slices = createTimeSlices();

async function ignoredOf(rules: Ignore, paths: readonly string[]): Promise<readonly string[]> {
  const isIgnored = await Promise.all(paths.map((path) => rules.ignores(path, slices)));
  return paths.filter((_, at) => isIgnored[at]);
}

describe("patterns", () => {
  let dir = "";
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "ignore-"));
    spawnSync("git", ["init", "--quiet", dir]);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  // In Git a set may go on behind a slash, and a slash may be escaped. In Flux and here they may not.
  const name = fc.stringMatching(/^[ab*?\\!#.\]-]{0,3}[ab*?!#.\]-]$/);
  const patternText = fc
    .tuple(
      fc.constantFrom("", "!", "/", "!/", "**/"),
      fc.array(
        fc.oneof(name, fc.constantFrom("a", "b", "**", "*", "[ab]", "[!a]", "[a-]*", "[]b]?")),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
      fc.constantFrom("", "/", "/**", " ", "\\ "),
    )
    .map(([start, names, end]) => start + names.join("/") + end);
  const pathName = fc.stringMatching(/^[ab!#*[\]-]{1,3}$/);
  const path = fc.array(pathName, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));

  it("match what Git matches, where Git looks at them", () => {
    fc.assert(
      fc.property(
        fc.array(patternText, { minLength: 1, maxLength: 3 }),
        fc.uniqueArray(path, { minLength: 1, maxLength: 30 }),
        (lines, paths) => {
          const patterns = lines.flatMap((line) => parsePattern(line) ?? []);
          assert.deepEqual(
            paths.filter((one) => ignoredByGit(patterns, one)),
            checkIgnore(dir, lines, paths),
          );
        },
      ),
      { numRuns: 150 },
    );
  });

  it("match a path or a directory above it as they match each of them alone", () => {
    fc.assert(
      fc.property(patternText, path, fc.boolean(), (line, one, isDirectory) => {
        const pattern = parsePattern(line);
        if (pattern === undefined) return;
        const names = one.split("/");
        const isMatch = names.some((_, at) =>
          matchesPath(pattern, names.slice(0, at + 1), at < names.length - 1 || isDirectory),
        );
        assert.equal(matchesPathOrParent(pattern, names, isDirectory), isMatch);
      }),
      { numRuns: 3_000 },
    );
  });
});

/** Git's own way: from the root down, and nothing below an ignored directory is read. */
function ignoredByGit(patterns: readonly IgnorePattern[], path: string): boolean {
  const names = path.split("/");
  return names.some((_, at) => {
    const prefix = names.slice(0, at + 1);
    const last = patterns.findLast((one) => matchesPath(one, prefix, at < names.length - 1));
    return last !== undefined && !last.isNegated;
  });
}

function checkIgnore(dir: string, lines: readonly string[], paths: readonly string[]): string[] {
  const excludes = `core.excludesFile=${join(dir, "excludes")}`;
  writeFileSync(join(dir, "excludes"), `${lines.join("\n")}\n`);
  const args = ["-c", excludes, "check-ignore", "--no-index", "-z", "-v", "-n", "--stdin"];
  const { stdout, stderr } = spawnSync("git", args, { cwd: dir, input: paths.join("\0") });
  assert.equal(stderr.toString(), "");
  const fields = stdout.toString().split("\0");
  return paths.filter((_, at) => {
    const pattern = fields[at * 4 + 2] ?? "";
    return pattern !== "" && !pattern.startsWith("!");
  });
}
