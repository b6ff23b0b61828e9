/** `npm run generate`: writes the generated files (generators.ts). `--check` only lists stale files and fails if there are any. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generators, staleFiles } from "./generators.ts";
import { root } from "./run.ts";

const stale = await staleFiles(root, generators);
if (process.argv.includes("--check")) {
  for (const { path, expected } of stale) {
    console.error(expected === undefined ? `${path} is no longer generated` : `${path} is stale`);
  }
  if (stale.length > 0) {
    console.error("run `npm run generate` and commit the changes");
    process.exitCode = 1;
  }
} else {
  for (const { path, expected } of stale) {
    const file = join(root, path);
    if (expected === undefined) {
      await rm(file);
    } else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, expected);
    }
    console.log(expected === undefined ? `removed ${path}` : `wrote ${path}`);
  }
}
