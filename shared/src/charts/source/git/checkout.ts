/** The files of a commit in a directory: shallow, with submodules and includes, without what is ignored. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createTimeSlices } from "../../../runtime/concurrency/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import {
  checkIgnoreBytes,
  createIgnore,
  type IgnoreFile,
  ignoreFileName,
} from "../ignore/index.ts";
import type { GitInclude, GitTree, RepositoryAccess } from "../index.ts";
import { gitErrors } from "./errors.ts";
import { fetchCommit, fetchObjects } from "./fetch.ts";
import { type CheckoutLimits, listTree, type Written, writeFiles } from "./files.ts";
import { type Submodule, submodulesOf } from "./read-modules.ts";
import type { Session } from "./session.ts";
import { submoduleAccess } from "./submodules.ts";
import { cleanPath, isInside, selectEntries } from "./tree.ts";

export interface CheckoutTree extends GitTree {
  readonly include?: readonly GitInclude[] | undefined;
  /** The path of the chart: in it a link out of the repository is an error. */
  readonly path?: string | undefined;
}

export interface CheckoutDeps {
  /** Opens a session that may receive so many bytes. */
  readonly open: (url: string, access: RepositoryAccess, maxBytes: number) => Promise<Session>;
  readonly limits: CheckoutLimits & {
    readonly maxReceivedBytes: number;
    readonly maxSubmodules: number;
    readonly maxDepth: number;
  };
  /** For temporary directories. */
  readonly dir: string;
}

/** What all repositories of one checkout use together. */
interface Use extends Written {
  receivedBytes: number;
  submodules: number;
}

/** `dir` is created, and is empty before. */
export async function checkout(
  deps: CheckoutDeps,
  tree: CheckoutTree,
  access: RepositoryAccess,
  dir: string,
): Promise<void> {
  const use: Use = { bytes: 0, files: 0, receivedBytes: 0, submodules: 0 };
  await checkoutInto(deps, tree, access, { dir, use, depth: 0 });
  for (const [at, include] of (tree.include ?? []).entries()) {
    const includedAccess = access.included?.[at];
    if (includedAccess === undefined)
      throw new AppError(
        gitErrors.GIT_SECRET_INVALID,
        `the access to the included repository ${include.url} is missing`,
      );
    await copyInclude(deps, include, includedAccess, dir, use);
  }
  await removeIgnored(dir, tree.ignore);
}

async function copyInclude(
  deps: CheckoutDeps,
  include: GitInclude,
  access: RepositoryAccess,
  dir: string,
  use: Use,
): Promise<void> {
  await mkdir(deps.dir, { recursive: true, mode: 0o700 });
  const temporary = await mkdtemp(join(deps.dir, "include-"));
  try {
    await checkoutInto(deps, include, access, { dir: temporary, use, depth: 0 });
    await removeIgnored(temporary, include.ignore);
    const from = join(temporary, cleanPath(include.fromPath));
    const found = await stat(from).catch(() => undefined);
    if (found === undefined)
      throw new AppError(
        gitErrors.GIT_PATH_NOT_FOUND,
        `commit ${include.commit} of ${include.url} has no "${include.fromPath}", which spec.include copies`,
      );
    await cp(from, join(dir, cleanPath(include.toPath)), { recursive: true });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function checkoutInto(
  deps: CheckoutDeps,
  tree: CheckoutTree,
  access: RepositoryAccess,
  to: { readonly dir: string; readonly use: Use; readonly depth: number },
): Promise<void> {
  const { dir, use, depth } = to;
  const { limits } = deps;
  await mkdir(dir, { recursive: true });
  const isSparse = tree.sparseCheckout !== undefined && tree.sparseCheckout.length > 0;
  let modules: readonly Submodule[] = [];
  {
    const leftBytes = limits.maxReceivedBytes - use.receivedBytes;
    await using session = await deps.open(tree.url, access, Math.max(leftBytes, 1));
    await fetchCommit(session, tree.commit, isSparse ? "blob:none" : "none");
    const all = await listTree(session, tree.commit);
    const entries = selectEntries(all, tree.sparseCheckout, tree.commit);
    if (isSparse)
      await fetchObjects(session, `fetch the files of commit ${tree.commit}`, {
        commit: tree.commit,
        ids: entries.flatMap((entry) => (entry.kind === "submodule" ? [] : [entry.id])),
      });
    const chart = tree.path === undefined ? undefined : cleanPath(tree.path);
    await writeFiles(session, entries, {
      dir,
      limits,
      written: use,
      isChart: (path) => chart === undefined || isInside(path, chart),
    });
    if (tree.recurseSubmodules === true) modules = await submodulesOf(session, all, entries, tree);
    use.receivedBytes += session.receivedBytes;
  }
  if (modules.length > 0 && depth >= limits.maxDepth)
    throw new AppError(
      gitErrors.GIT_TOO_LARGE,
      `the submodules of ${tree.url} are nested more than ${limits.maxDepth} deep`,
    );
  for (const module of modules) {
    use.submodules += 1;
    if (use.submodules > limits.maxSubmodules)
      throw new AppError(
        gitErrors.GIT_TOO_LARGE,
        `the repository has more than the limit of ${limits.maxSubmodules} submodules`,
      );
    await checkoutInto(
      deps,
      { url: module.url, commit: module.commit, recurseSubmodules: true },
      submoduleAccess(tree.url, access, module.url, module.path),
      { dir: join(dir, module.path), use, depth: depth + 1 },
    );
  }
}

/** Removes what `.sourceignore` files, `spec.ignore` and Flux's own patterns leave out. */
async function removeIgnored(dir: string, specIgnore: string | undefined): Promise<void> {
  const slices = createTimeSlices();
  const paths: string[] = [];
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (slices.isOver) await slices.pause();
    if (!entry.isDirectory()) paths.push(join(entry.parentPath, entry.name).slice(dir.length + 1));
  }
  const files = await readIgnoreFiles(dir, paths);
  const ignore = createIgnore({ kind: "tree", files, ignore: specIgnore });
  for (const path of paths) {
    if (slices.isOver) await slices.pause();
    if (await ignore.ignores(path, slices)) await rm(join(dir, path), { force: true });
  }
}

/** In the order from the root down. */
async function readIgnoreFiles(
  dir: string,
  paths: readonly string[],
): Promise<readonly IgnoreFile[]> {
  const found = paths.flatMap((path) => {
    if (path !== ignoreFileName && !path.endsWith(`/${ignoreFileName}`)) return [];
    const directory = path.slice(0, -ignoreFileName.length).replace(/\/$/, "");
    return [{ directory, path, depth: directory === "" ? 0 : directory.split("/").length }];
  });
  const files: IgnoreFile[] = [];
  let sizeBytes = 0;
  for (const { directory, path } of found.sort((a, b) => a.depth - b.depth)) {
    sizeBytes += (await stat(join(dir, path))).size;
    checkIgnoreBytes(sizeBytes);
    files.push({ directory, text: await readFile(join(dir, path), "utf8") });
  }
  return files;
}
