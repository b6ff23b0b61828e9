/** The submodules of a commit that was fetched. */
import type { GitTree } from "../index.ts";
import { fetchObjects } from "./fetch.ts";
import type { Session } from "./session.ts";
import { parseModules, submoduleUrl } from "./submodules.ts";
import type { TreeEntry } from "./tree.ts";

export interface Submodule {
  readonly path: string;
  readonly url: string;
  readonly commit: string;
}

/** The submodules among `entries`; `all` are those of the commit. */
export async function submodulesOf(
  session: Session,
  all: readonly TreeEntry[],
  entries: readonly TreeEntry[],
  { url, commit }: Pick<GitTree, "url" | "commit">,
): Promise<readonly Submodule[]> {
  const links = entries.filter(({ kind }) => kind === "submodule");
  const file = all.find(({ kind, path }) => kind === "file" && path === ".gitmodules");
  if (links.length === 0 || file === undefined) return [];
  const what = `read .gitmodules of commit ${commit}`;
  await fetchObjects(session, what, { commit, ids: [file.id] });
  const { stdout } = await session.git(what, ["config", "--blob", file.id, "-z", "--list"]);
  const modules = parseModules(stdout.toString());
  return links.flatMap(({ path, id }) => {
    const address = modules.get(path);
    return address === undefined
      ? []
      : [{ path, commit: id, url: submoduleUrl(url, address, path) }];
  });
}
