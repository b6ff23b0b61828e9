/** The submodules of a commit that was fetched. */
import type { GitTree } from "../index.ts";
import { fetchObjects } from "./fetch.ts";
import type { Session } from "./session.ts";
import { parseModules, submoduleUrl } from "./submodules.ts";
import type { TreeEntry } from "./tree.ts";
import { listPaths, parentsOf } from "./tree-paths.ts";

const modulesFile = ".gitmodules";
/** Some thousand submodules. */
const maxModulesBytes = 1024 * 1024;

export interface Submodule {
  readonly path: string;
  readonly url: string;
  readonly commit: string;
}

/** The submodules among `entries`; `all` are the commit's entries. */
export async function submodulesOf(
  session: Session,
  all: readonly TreeEntry[],
  entries: readonly TreeEntry[],
  { url, commit }: Pick<GitTree, "url" | "commit">,
): Promise<readonly Submodule[]> {
  const links = entries.filter(({ kind }) => kind === "submodule");
  const file = all.find(({ kind, path }) => kind === "file" && path === modulesFile);
  if (links.length === 0 || file === undefined) return [];
  const modules = await readModules(session, commit, file.id);
  return links.flatMap(({ path, id }) => {
    const address = modules.get(path);
    return address === undefined
      ? []
      : [{ path, commit: id, url: submoduleUrl(url, address, path) }];
  });
}

/** The submodules that paths of a commit lie in, without a list of all its files. */
export async function submodulesAbove(
  session: Session,
  { url, commit }: Pick<GitTree, "url" | "commit">,
  paths: readonly string[],
): Promise<readonly Submodule[]> {
  const file = (await listPaths(session, commit, [modulesFile])).get(modulesFile);
  if (file?.kind !== "file") return [];
  const modules = await readModules(session, commit, file.id);
  const above = new Set(paths.flatMap(parentsOf));
  const links = await listPaths(
    session,
    commit,
    [...modules.keys()].filter((path) => above.has(path)),
  );
  return [...links.values()].flatMap(({ kind, path, id }) => {
    const address = modules.get(path);
    return kind !== "submodule" || address === undefined
      ? []
      : [{ path, commit: id, url: submoduleUrl(url, address, path) }];
  });
}

/** Path to address. */
async function readModules(
  session: Session,
  commit: string,
  id: string,
): Promise<ReadonlyMap<string, string>> {
  const what = `read .gitmodules of commit ${commit}`;
  await fetchObjects(session, what, { commit, ids: [id] });
  const { stdout } = await session.git(what, ["config", "--blob", id, "-z", "--list"], {
    maxOutputBytes: maxModulesBytes,
  });
  return parseModules(stdout.toString());
}
