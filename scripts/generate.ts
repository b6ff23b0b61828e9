/**
 * `npm run generate`: writes what is made from something else in the repository (generators.ts).
 * With `--check` it writes nothing and fails with the names of the files that are stale.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generators, staleFiles } from "./generators.ts";
import { root } from "./run.ts";

const stale = await staleFiles(root, generators);
if (process.argv.includes("--check")) {
  for (const { path, wanted } of stale) {
    console.error(
      wanted === undefined ? `${path} is made by nothing any more` : `${path} is stale`,
    );
  }
  if (stale.length > 0) {
    console.error("run `npm run generate` and commit what it changes");
    process.exitCode = 1;
  }
} else {
  for (const { path, wanted } of stale) {
    const file = join(root, path);
    if (wanted === undefined) {
      await rm(file);
    } else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, wanted);
    }
    console.log(wanted === undefined ? `removed ${path}` : `wrote ${path}`);
  }
}
