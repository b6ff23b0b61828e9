/** The paths in the documentation exist, and AGENTS.md has a line for each group of folders. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { root } from "./run.ts";

const pages = ["AGENTS.md", "README.md", ...globSync("docs/**/*.md", { cwd: root })];

/** In backticks: a path below one of the repository's folders, without placeholders. */
const quotedPath = /`((?:agent|charts|cli|docs|e2e|hub|local|proto|scripts|shared)\/[\w./-]+)`/g;
const link = /\]\(([^)\s#:]+)(?:#[^)\s]*)?\)/g;

/** Folders of tests, and of generated code. */
const unlisted = /(^|\/)(testing|generated|fixtures|rules)$/;

for (const page of pages) {
  const text = readFileSync(join(root, page), "utf8");

  test(`${page} names and links existing files only`, () => {
    const quoted = found(text, quotedPath);
    const linked = found(text, link).map((path) => join(dirname(page), path));

    assert.deepEqual(
      [...quoted, ...linked].filter((path) => !existsSync(join(root, path))),
      [],
    );
  });
}

test("docs/differences-from-flux.md names each test by its whole path, and one for whatever is as in Flux", () => {
  const text = readFileSync(join(root, "docs/differences-from-flux.md"), "utf8");
  const rows = text
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter(({ length }) => length === 5);
  const files = found(text, /`([^`\s]+\.ts)`/g);

  assert.ok(rows.length > 100 && files.length > 100);
  assert.deepEqual(
    files.filter((path) => !path.includes("/") || !existsSync(join(root, path))),
    [],
  );
  assert.deepEqual(
    rows.filter(([, , here, tests]) => here?.startsWith("the same") && !tests?.includes("`")),
    [],
  );
});

test("AGENTS.md describes every group of folders of the code", () => {
  const described = new Set(
    found(readFileSync(join(root, "AGENTS.md"), "utf8"), quotedPath).map(dropSlash),
  );
  const folders = globSync("{agent,cli,hub,local,shared}/src/*/", { cwd: root })
    .map(dropSlash)
    .filter((folder) => !unlisted.test(folder))
    .filter((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }).length > 0);

  assert.ok(folders.includes("hub/src/frontends"));
  assert.deepEqual(
    folders.filter((folder) => !described.has(folder)),
    [],
  );
});

function found(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].flatMap(([, path]) => path ?? []);
}

function dropSlash(path: string): string {
  return path.replace(/\/$/, "");
}
