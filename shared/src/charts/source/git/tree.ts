/** Which files of a commit are written to disk. Pure. */
import { AppError } from "../../../runtime/errors/index.ts";
import { gitErrors } from "./errors.ts";

/** What `git ls-tree -r` lists. */
export type TreeEntry =
  | {
      readonly kind: "file";
      readonly path: string;
      readonly id: string;
      readonly isExecutable: boolean;
    }
  | { readonly kind: "link"; readonly path: string; readonly id: string }
  | { readonly kind: "submodule"; readonly path: string; readonly id: string };

/** Parses the output of `git ls-tree -r -z --full-tree`. */
export function parseTree(output: Buffer): readonly TreeEntry[] {
  const text = output.toString("utf8");
  return text.split("\0").flatMap((line): readonly TreeEntry[] => {
    const [, mode, id, path] = /^(1\d{5}) \w+ ([0-9a-f]{40})\t(.+)$/s.exec(line) ?? [];
    if (mode === undefined || id === undefined || path === undefined) return [];
    if (mode === "120000") return [{ kind: "link", path, id }];
    if (mode === "160000") return [{ kind: "submodule", path, id }];
    return [{ kind: "file", path, id, isExecutable: mode === "100755" }];
  });
}

/**
 * The entries in the directories of `sparseCheckout`; all without any. Throws for a directory that the commit does not have,
 * and for a path that leaves the tree.
 */
export function selectEntries(
  entries: readonly TreeEntry[],
  sparseCheckout: readonly string[] | undefined,
  commit: string,
): readonly TreeEntry[] {
  for (const { path } of entries) checkPath(path);
  if (sparseCheckout === undefined || sparseCheckout.length === 0) return entries;
  const directories = sparseCheckout.map(cleanPath);
  if (directories.includes("")) return entries;
  for (const directory of directories)
    if (!entries.some(({ path }) => isInside(path, directory)))
      throw new AppError(
        gitErrors.GIT_PATH_NOT_FOUND,
        `commit ${commit} has no directory "${directory}" of spec.sparseCheckout`,
      );
  return entries.filter(({ path }) => directories.some((each) => isInside(path, each)));
}

/** The limit of a user, in characters: each directory above such a path is looked up, as a text of its own. */
const longestPath = 1_024;
/** The limit of a file of a commit: Linux writes none with more. */
const longestTreePath = 4_096;

/**
 * A path of a user from the root of a repository: without `./`, `//` and a slash at either end. Throws when it leaves the tree, and
 * when it is too long.
 */
export function cleanPath(path: string): string {
  if (path.length > longestPath)
    throw new AppError(
      gitErrors.GIT_CONTENT_INVALID,
      `the path "${path.slice(0, 200)}…" has ${path.length} characters, more than the limit of ${longestPath}: shorten it`,
    );
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes(".."))
    throw new AppError(gitErrors.GIT_CONTENT_INVALID, `the path "${path}" leaves the repository`);
  return parts.join("/");
}

/** Whether a path is a directory or lies in it; "" is the root. */
export function isInside(path: string, directory: string): boolean {
  return directory === "" || path === directory || path.startsWith(`${directory}/`);
}

/** Whether a symbolic link at `path` leads out of the tree. */
export function linkLeaves(path: string, target: string): boolean {
  if (target.startsWith("/")) return true;
  const parts = path.split("/").slice(0, -1);
  for (const part of target.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return true;
  }
  return false;
}

/** Git refuses such paths itself when it checks out; files are written by us. */
function checkPath(path: string): void {
  if (path.length > longestTreePath)
    throw new AppError(
      gitErrors.GIT_CONTENT_INVALID,
      `the commit has the path "${path.slice(0, 200)}…" of ${path.length} characters, more than the limit of ${longestTreePath}: rename the file`,
    );
  if (/(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)/i.test(path))
    throw new AppError(
      gitErrors.GIT_CONTENT_INVALID,
      `the commit has the path "${path}", which leaves the repository or is Git's own`,
    );
}
