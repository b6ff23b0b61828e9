/** Which of some paths a commit has, without a list of all its files. */
import type { Session } from "./session.ts";
import { parseTree, type TreeEntry } from "./tree.ts";

/** Paths of one run of git: a command line has room for them. */
const pathsOfRun = 100;

/** The files, links and submodules at clean paths of a commit whose directories were fetched; a directory is none of them. */
export async function listPaths(
  session: Session,
  commit: string,
  paths: Iterable<string>,
): Promise<ReadonlyMap<string, TreeEntry>> {
  const wanted = new Set(paths);
  const found = new Map<string, TreeEntry>();
  for (const group of withoutParents(wanted)) {
    for (let at = 0; at < group.length; at += pathsOfRun) {
      const list = [
        "ls-tree",
        "-z",
        "--full-tree",
        commit,
        "--",
        ...group.slice(at, at + pathsOfRun),
      ];
      const args = ["--literal-pathspecs", ...list];
      const { stdout } = await session.git(`list files of commit ${commit}`, args);
      for (const entry of parseTree(stdout))
        if (wanted.has(entry.path)) found.set(entry.path, entry);
    }
  }
  return found;
}

/** The paths in groups, in none of which one is above another: with both, git lists all that is in the upper one. */
export function withoutParents(paths: ReadonlySet<string>): readonly (readonly string[])[] {
  const groups = new Map<number, string[]>();
  for (const path of paths) {
    if (path === "") continue;
    const depth = parentsOf(path).filter((parent) => paths.has(parent)).length;
    groups.set(depth, [...(groups.get(depth) ?? []), path]);
  }
  return [...groups.values()];
}

/** The directories that a path lies in, the uppermost first. */
export function parentsOf(path: string): readonly string[] {
  const parents: string[] = [];
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1))
    parents.push(path.slice(0, end));
  return parents;
}
