import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { errorReference } from "./error-reference.ts";
import { type Generator, generators, staleFiles } from "./generators.ts";
import { root } from "./run.ts";

test("every generated file in the repository is up to date", async () => {
  const stale = await staleFiles(root, generators);

  assert.deepEqual(
    stale.map(({ path }) => path),
    [],
    "run `npm run generate`",
  );
});

test("the error reference has catalogues from files with any name", async () => {
  const text = await errorReference(root);

  // In referenced-object.ts, content.ts and errors.ts.
  for (const code of ["REFERENCED_OBJECT_INVALID", "CONTENT_INVALID", "INDEX_INVALID"])
    assert.match(text, new RegExp(`^\\| \`${code}\` `, "m"));
});

test("missing, changed and no longer generated files are stale, others are not", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-generate-"));
  t.onTestFinished(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, "own"));
  await writeFile(join(dir, "own/same.txt"), "same");
  await writeFile(join(dir, "own/changed.txt"), "before");
  await writeFile(join(dir, "own/old.txt"), "old");
  await writeFile(join(dir, "other.txt"), "another file");
  const generator: Generator = {
    name: "texts",
    folder: "own",
    files: () =>
      new Map([
        ["own/same.txt", "same"],
        ["own/changed.txt", "after"],
        ["missing.txt", "new"],
      ]),
  };

  assert.deepEqual(await staleFiles(dir, [generator]), [
    { path: "own/changed.txt", expected: "after" },
    { path: "missing.txt", expected: "new" },
    { path: "own/old.txt", expected: undefined },
  ]);
});
