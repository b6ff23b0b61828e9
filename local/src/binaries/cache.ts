/**
 * The cache of programs. Whatever decides the bytes of a program is in the name of its entry, so a changed pin is another
 * entry; an entry appears whole or not at all.
 */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { withLock } from "../process/lock.ts";
import { diskFullError } from "../process/process-errors.ts";
import type { ToolReport } from "./progress.ts";
import type { Platform, Tool } from "./tools.ts";

/** What a full disk is told to have free. */
export const buildingNeeds = "building everything needs about 6 GB, keeping it 0.6 GB";

/** The two folders in which a tool may be. The program inside has the tool's own name, as `ps` shows it. */
export interface CacheEntries {
  /** The publisher's bytes. */
  readonly downloaded: string;
  /** Our own build: also named by what the build read. */
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

export async function findInCache(tool: Tool, entries: CacheEntries): Promise<string | undefined> {
  for (const dir of [entries.downloaded, entries.built]) {
    const path = join(dir, tool.name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() === true) return path;
  }
  return undefined;
}

export interface MakeEntry {
  readonly cacheDir: string;
  readonly tool: Tool;
  readonly platform: Platform;
  readonly kind: keyof CacheEntries;
  /** Puts the program at `output`. */
  readonly work: (output: string, report: ToolReport) => Promise<void>;
  readonly report: ToolReport;
  readonly signal?: AbortSignal;
}

/**
 * Makes one entry under its lock: in a folder of its own first, renamed when it is whole, so that whatever happens in
 * between leaves no entry. Somebody else's result is taken when it appeared while the lock was waited for.
 */
export async function makeEntry(entry: MakeEntry): Promise<string> {
  const { cacheDir, tool, report } = entry;
  const entries = await cacheEntries(cacheDir, tool, entry.platform);
  const name = basename(entries.built);
  const work = async (): Promise<string> => {
    const there = await findInCache(tool, entries);
    if (there !== undefined) {
      report("found", there);
      return there;
    }
    const dir = await emptyHalf(cacheDir, name);
    try {
      await entry.work(join(dir, tool.name), report);
      await mkdir(dirname(entries[entry.kind]), { recursive: true });
      await rename(dir, entries[entry.kind]);
    } catch (thrown) {
      await rm(dir, { recursive: true, force: true });
      throw diskFullError(thrown, `make ${tool.name} ${tool.version}`, buildingNeeds) ?? thrown;
    }
    const path = join(entries[entry.kind], tool.name);
    report("ready", path);
    return path;
  };
  return withLock(join(cacheDir, "locks", `${name}.lock`), work, {
    onWait: (holder) => report("waiting", `process ${holder.pid} is making it`),
    ...(entry.signal === undefined ? {} : { signal: entry.signal }),
  });
}

/** A new folder for a half-made entry; those that killed processes left are removed, which the lock makes safe. */
async function emptyHalf(cacheDir: string, name: string): Promise<string> {
  const half = join(cacheDir, "half");
  await mkdir(half, { recursive: true });
  const leftovers = (await readdir(half)).filter((entry) => entry.startsWith(`${name}.`));
  await Promise.all(
    leftovers.map((entry) => rm(join(half, entry), { recursive: true, force: true })),
  );
  return mkdtemp(join(half, `${name}.`));
}

async function buildDigest(tool: Tool): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"])
    hash.update(await readFile(join(tool.build.dir, file))).update("\0");
  return hash
    .update(JSON.stringify([tool.build.package, tool.build.ldflags]))
    .digest("hex")
    .slice(0, 12);
}
