/** Words that a reader stumbles over: figures of speech, and comments that continue a name instead of saying what it is for. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { root } from "./run.ts";

const phrases: readonly RegExp[] = [
  /^\s*(\/\*\*|\*|\/\/) Of /,
  /"Of [a-z]/,
  /\b(whoever|anew|mended)\b/i,
  /\b(is|are) told\b/i,
  /\blooks again\b/i,
  /\bput right\b/i,
  /\bof no interest\b/i,
  /\bnobody's business\b/i,
  /\bwhat(ever)? (became|becomes) of\b/i,
];

/** In programs a thing is named again: `the labels of the cluster, not the group's labels`; and texts say `is not a patch`. */
const inPrograms = [/\b(those|that) of\b/i, /["`].*(?<!\bthere )\bis no (?!longer\b|more\b)/i];
const programs =
  /^(agent|cli|dashboard|hub|local|proto|shared)\/src\/(?!(.*\/)?testing\/|.*\.test\.tsx?$)/;

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
      isRefused(line, path) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
    );
  });

  assert.ok(files.length > 1_000);
  assert.deepEqual(found, []);
});

test("a planted phrase is found", () => {
  const lines = [
    "/** Of the object. */",
    " * Of no items it allows one.",
    "  // Of a registry.",
    'described(text, "Of the chart.")',
    "whoever calls",
    "the agent is told",
    "// The names are those of Flux.",
    'throw problem("it is no patch");',
  ];
  for (const line of lines) assert.ok(isRefused(line, "hub/src/planted.ts"), line);
});

function isRefused(line: string, path: string): boolean {
  const refused = programs.test(path) ? [...phrases, ...inPrograms] : phrases;
  return refused.some((phrase) => phrase.test(line));
}
