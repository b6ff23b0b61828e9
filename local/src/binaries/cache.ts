/**
 * The cache of programs. The name of an entry identifies all inputs of its bytes, so another version or build is another
 * entry. Entries are created atomically.
 */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { diskFullError, withLock } from "../process/index.ts";
import type { ToolReport } from "./progress.ts";
import type { GoBuild, Platform, Tool } from "./tools.ts";

/** For the error of a full disk. */
export const spaceNeeded = "building everything needs about 6 GB, keeping it 0.6 GB";

/** The two folders that may contain a tool. The program has the name of the tool, which `ps` shows. */
export interface CacheEntries {
  /** Downloaded from the publisher. */
  readonly downloaded: string;
  /** Built with Go; the name has a digest of the inputs of the build. */
  readonly built: string;
}

export async function cacheEntries(
  cacheDir: string,
  tool: Tool,
  platform: Platform,
): Promise<CacheEntries> {
  const base = `${tool.name}-${tool.version}-${platform.os}-${platform.arch}`;
  return {
    downloaded: join(cacheDir, "bin", base),
    built: join(cacheDir, "bin", `${base}-${await buildDigest(tool)}`),
  };
}

/** The path of the program in the cache, downloaded or built. */
export async function findInCache(tool: Tool, entries: CacheEntries): Promise<string | undefined> {
  for (const dir of [entries.downloaded, entries.built]) {
    const path = join(dir, tool.name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() === true) return path;
  }
  return undefined;
}

export interface CreateEntry {
  readonly cacheDir: string;
  readonly tool: Tool;
  readonly platform: Platform;
  readonly kind: keyof CacheEntries;
  /** Writes the program to `output`. */
  readonly work: (output: string, report: ToolReport) => Promise<void>;
  readonly report: ToolReport;
  readonly signal?: AbortSignal;
}

/**
 * Creates an entry under its lock: in a staging folder that is renamed when complete, so that an interruption leaves no entry.
 * Uses the entry of another process that created it while this one waited for the lock.
 */
export async function createEntry(entry: CreateEntry): Promise<string> {
  const { cacheDir, tool, report } = entry;
  const entries = await cacheEntries(cacheDir, tool, entry.platform);
  const name = basename(entries.built);
  const work = async (): Promise<string> => {
    const existing = await findInCache(tool, entries);
    if (existing !== undefined) {
      report("found", existing);
      return existing;
    }
    const dir = await stagingDir(cacheDir, name);
    try {
      await entry.work(join(dir, tool.name), report);
      await mkdir(dirname(entries[entry.kind]), { recursive: true });
      await rename(dir, entries[entry.kind]);
    } catch (thrown) {
      await rm(dir, { recursive: true, force: true });
      throw diskFullError(thrown, `prepare ${tool.name} ${tool.version}`, spaceNeeded) ?? thrown;
    }
    const path = join(entries[entry.kind], tool.name);
    report("ready", path);
    return path;
  };
  return withLock(join(cacheDir, "locks", `${name}.lock`), work, {
    onWait: (holder) => report("waiting", `process ${holder.pid} is preparing it`),
    ...(entry.signal === undefined ? {} : { signal: entry.signal }),
  });
}

/** A new staging folder. Deletes those that killed processes left; the lock is held, so none is in use. */
async function stagingDir(cacheDir: string, name: string): Promise<string> {
  const staging = join(cacheDir, "staging");
  await mkdir(staging, { recursive: true });
  const leftovers = (await readdir(staging)).filter((entry) => entry.startsWith(`${name}.`));
  await Promise.all(
    leftovers.map((entry) => rm(join(staging, entry), { recursive: true, force: true })),
  );
  return mkdtemp(join(staging, `${name}.`));
}

async function buildDigest(tool: Tool): Promise<string> {
  const hash = createHash("sha256");
  for (const file of await sourcesOf(tool.build))
    hash.update(await readFile(join(tool.build.dir, file))).update("\0");
  return hash
    .update(JSON.stringify([tool.build.package, tool.build.ldflags, ...(tool.build.tags ?? [])]))
    .digest("hex")
    .slice(0, 12);
}

/** The files that a build depends on: versions and checksums of modules, or else the sources themselves. */
async function sourcesOf({ dir, module }: GoBuild): Promise<readonly string[]> {
  if (module !== undefined) return ["go.mod", "go.sum"];
  const files = await readdir(dir, { recursive: true });
  return files
    .filter((file) => /^go\.(mod|sum)$|\.go$/.test(file) && !file.endsWith("_test.go"))
    .sort();
}
