/** The programs of an earlier version of the product, from the commit that `e2e/versions.json` names. */
import { execFile } from "node:child_process";
import {
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  unlink,
} from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readLocalConfig } from "@flotilla/local/config";
import { withLock } from "@flotilla/local/process";
import type { EntryFiles } from "../harness/processes.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));

export interface EarlierVersion {
  /** The folder of its sources. */
  readonly dir: string;
  readonly entryFiles: EntryFiles;
}

/** Its sources, with the dependencies of this version, which it must work with. */
export async function earlierVersion(version: string): Promise<EarlierVersion> {
  const versions = JSON.parse(await readFile(join(root, "e2e/versions.json"), "utf8")) as Readonly<
    Record<string, string>
  >;
  const commit = versions[version];
  if (commit === undefined) throw new Error(`e2e/versions.json has no version ${version}`);
  const cache = join(readLocalConfig().cacheDir, "versions");
  const dir = join(cache, commit);
  await mkdir(cache, { recursive: true });
  await withLock(join(cache, `${commit}.lock`), async () => {
    if ((await stat(dir).catch(() => undefined)) === undefined) await unpack(commit, dir);
    await linkDependencies(dir);
  });
  return {
    dir,
    entryFiles: {
      hub: { main: join(dir, "hub/src/main.ts") },
      agent: { main: join(dir, "agent/src/main.ts") },
    },
  };
}

async function unpack(commit: string, dir: string): Promise<void> {
  const partial = `${dir}.${process.pid}`;
  await mkdir(partial, { recursive: true });
  const archive = join(partial, "sources.tar");
  await run("git", ["-C", root, "archive", `--output=${archive}`, commit]);
  await run("tar", ["--extract", "--file", archive, "--directory", partial]);
  await rename(partial, dir);
}

/** Packages of npm are those of this checkout; its own packages are its own. */
async function linkDependencies(dir: string): Promise<void> {
  const own = join(dir, "node_modules", "@flotilla");
  await mkdir(own, { recursive: true });
  const link = async (target: string, path: string) => {
    const linked = await readlink(path).catch(() => undefined);
    if (linked === target) return;
    // Another checkout wrote it, which may be gone.
    if (linked !== undefined) await unlink(path);
    await symlink(target, path);
  };
  for (const name of await readdir(join(root, "node_modules")))
    if (name !== "@flotilla" && !name.startsWith("."))
      await link(join(root, "node_modules", name), join(dir, "node_modules", name));
  for (const name of ["proto", "shared", "hub", "agent", "local", "cli"])
    await link(join(dir, name), join(own, name));
}
