/** Words that a reader stumbles over: figures of speech, and comments that continue a name instead of saying what it is for. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { root } from "./run.ts";

const phrases: readonly RegExp[] = [
  /\/\*\* Of /,
  /\b(whoever|anew|mended)\b/i,
  /\b(is|are) told\b/i,
  /\blooks again\b/i,
  /\bput right\b/i,
  /\bof no interest\b/i,
  /\bnobody's business\b/i,
  /\bwhat(ever)? (became|becomes) of\b/i,
];

const own = "scripts/phrases.test.ts";
const patterns = [
  "{agent,cli,dashboard,e2e,hub,local,proto,scripts,shared}/**/*.{ts,tsx}",
  "docs/*.md",
  "*.md",
];

test("code and documentation have none of these phrases", () => {
  const files = globSync(patterns, {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|build|generated)$/.test(path),
  }).filter((path) => path !== own);
  const found = files.flatMap((path) => {
    const lines = readFileSync(join(root, path), "utf8").split("\n");
    return lines.flatMap((line, at) =>
      phrases.some((phrase) => phrase.test(line)) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
    );
  });

  assert.ok(files.length > 1_000);
  assert.deepEqual(found, []);
});

test("a planted phrase is found", () => {
  for (const line of ["/** Of the object. */", "whoever calls", "the agent is told"])
    assert.ok(phrases.some((phrase) => phrase.test(line)));
});
