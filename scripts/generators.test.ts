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

test("the error reference has a catalogue wherever in a folder it is declared", async () => {
  const text = await errorReference(root);

  // In supply.ts, content.ts and errors.ts.
  for (const code of ["REFERENCED_OBJECT_INVALID", "CONTENT_INVALID", "INDEX_INVALID"])
    assert.match(text, new RegExp(`^\\| \`${code}\` `, "m"));
});

test("a file that is missing, changed or made by nothing is stale, others are not", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-generate-"));
  t.onTestFinished(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, "own"));
  await writeFile(join(dir, "own/same.txt"), "same");
  await writeFile(join(dir, "own/changed.txt"), "before");
  await writeFile(join(dir, "own/left.txt"), "left over");
  await writeFile(join(dir, "other.txt"), "somebody else's");
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
    { path: "own/changed.txt", wanted: "after" },
    { path: "missing.txt", wanted: "new" },
    { path: "own/left.txt", wanted: undefined },
  ]);
});
