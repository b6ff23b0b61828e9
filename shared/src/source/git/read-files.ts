/** Single files of a commit, without all others; those in a submodule are read from the submodule's repository. */
import type { RepositoryAccess } from "../index.ts";
import { fetchCommit } from "./fetch.ts";
import { listTree, readBlob } from "./files.ts";
import { submodulesOf } from "./read-modules.ts";
import type { Session } from "./session.ts";
import { submoduleAccess } from "./submodules.ts";
import { cleanPath, isInside } from "./tree.ts";

export interface FilesAt<P extends string = string> {
  readonly url: string;
  readonly commit: string;
  /** From the root. */
  readonly paths: readonly P[];
  readonly recurseSubmodules?: boolean | undefined;
}

export interface ReadFilesDeps {
  readonly open: (url: string, access: RepositoryAccess) => Promise<Session>;
  /** Of each file. */
  readonly maxBytes: number;
  /** Submodules of submodules. */
  readonly maxDepth: number;
}

/** Undefined where the commit has no such file. */
export async function readFiles<P extends string>(
  deps: ReadFilesDeps,
  { url, commit, paths, recurseSubmodules }: FilesAt<P>,
  access: RepositoryAccess,
): Promise<ReadonlyMap<P, Buffer | undefined>> {
  await using session = await deps.open(url, access);
  await fetchCommit(session, commit, "blob:none");
  const files = new Map<P, Buffer | undefined>();
  for (const path of paths)
    files.set(path, await readBlob(session, commit, cleanPath(path), deps.maxBytes));
  const missing = paths.filter((path) => files.get(path) === undefined);
  if (recurseSubmodules !== true || missing.length === 0 || deps.maxDepth === 0) return files;
  const entries = await listTree(session, commit);
  const links = entries.filter(
    (entry) =>
      entry.kind === "submodule" && missing.some((path) => isInside(cleanPath(path), entry.path)),
  );
  for (const module of await submodulesOf(session, entries, links, { url, commit })) {
    const inside = missing.flatMap((path) => {
      const below = cleanPath(path).slice(module.path.length + 1);
      return below !== "" && isInside(cleanPath(path), module.path) ? [{ path, below }] : [];
    });
    const found = await readFiles(
      { ...deps, maxDepth: deps.maxDepth - 1 },
      { ...module, paths: inside.map(({ below }) => below), recurseSubmodules },
      submoduleAccess(url, access, module.url, module.path),
    );
    for (const { path, below } of inside) files.set(path, found.get(below));
  }
  return files;
}
