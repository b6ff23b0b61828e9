/**
 * Reads the chart in a directory as `helm package` does: without what .helmignore names, and through symbolic links, but only
 * to files of the same source.
 */
import type { Stats } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { type HelmIgnore, parseHelmIgnore } from "@flotilla/shared/source/chartbuild";
import { describeBytes } from "@flotilla/shared/source/transport";
import { type BuildLimits, buildError, type ChartFiles, createFileCount } from "./chart-files.ts";

/** A file or directory of a source, at the end of all links. */
export interface SourceEntry {
  readonly path: string;
  readonly stats: Stats;
}

/** `path`: from `root`. Undefined if it does not exist. Throws CHART_BUILD for a link out of the source. */
export async function findEntry(root: string, path: string): Promise<SourceEntry | undefined> {
  const [top, found] = await Promise.all([realpath(root), resolved(join(root, path))]);
  if (found === undefined) return undefined;
  if (found !== top && !found.startsWith(top + sep))
    throw buildError(`${JSON.stringify(path)} is a symbolic link out of the source`);
  return { path: found, stats: await stat(found) };
}

/** The text of a file of the source; undefined if it does not exist. Throws CHART_BUILD. */
export async function readSourceFile(
  root: string,
  path: string,
  limits: BuildLimits,
): Promise<string | undefined> {
  const found = await findEntry(root, path);
  return found?.stats.isFile() === true ? (await read(path, found, limits)).toString() : undefined;
}

/** `path`: of the chart's directory, from `root`. Throws CHART_BUILD. */
export async function readChartDirectory(
  root: string,
  path: string,
  limits: BuildLimits,
): Promise<ChartFiles> {
  const files = new Map<string, Buffer>();
  const count = createFileCount(`the chart in ${path}`, limits);
  const rules = parseHelmIgnore(
    (await readSourceFile(root, join(path, ".helmignore"), limits)) ?? "",
  );
  await readInto("", 0);
  return files;

  async function readInto(within: string, depth: number): Promise<void> {
    if (depth > limits.depth)
      throw buildError(
        `the chart in ${path} has more than ${limits.depth} directories in each other`,
      );
    const entries = await readdir(join(root, path, within), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = within === "" ? entry.name : `${within}/${entry.name}`;
      const isLink = entry.isSymbolicLink();
      if (isLink && rules.ignores(name, false)) continue;
      const found = await findEntry(root, join(path, name));
      if (found === undefined)
        throw buildError(`${JSON.stringify(join(path, name))} is a symbolic link to nothing`);
      await readEntry(name, found, { rules, depth });
    }
  }

  async function readEntry(
    name: string,
    found: SourceEntry,
    { rules, depth }: { readonly rules: HelmIgnore; readonly depth: number },
  ): Promise<void> {
    const isDirectory = found.stats.isDirectory();
    if (rules.ignores(name, isDirectory)) return;
    if (isDirectory) return await readInto(name, depth + 1);
    count.add(found.stats.size);
    files.set(name, await read(join(path, name), found, limits));
  }
}

async function read(
  name: string,
  { path, stats }: SourceEntry,
  { fileBytes }: BuildLimits,
): Promise<Buffer> {
  if (!stats.isFile()) throw buildError(`${JSON.stringify(name)} is not a regular file`);
  if (stats.size > fileBytes)
    throw buildError(`${JSON.stringify(name)} has more than ${describeBytes(fileBytes)}`);
  return await readFile(path);
}

/** At the end of all links; undefined if there is nothing. */
async function resolved(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENAMETOOLONG")
      return undefined;
    throw thrown;
  }
}
