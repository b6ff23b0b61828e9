/** Fetching objects of a repository: as few as are needed. */
import { AppError } from "../../errors/index.ts";
import { gitErrors } from "./errors.ts";
import { gitError, refusesCommits } from "./git-error.ts";
import type { Session } from "./session.ts";

/** What comes with a commit: everything, its directories without the content of files, or nothing. */
export type Filter = "none" | "blob:none" | "tree:0";

const always = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];

/** Fetches a commit without its history. Throws GIT_COMMIT_NOT_FOUND. */
export async function fetchCommit(session: Session, commit: string, filter: Filter): Promise<void> {
  const what = `fetch commit ${commit}`;
  const filtered = filter === "none" ? [] : [`--filter=${filter}`];
  const args = ["fetch", ...always, "--depth=1", ...filtered, "--", "origin", commit];
  const result = await session.git(what, args, { mayFail: true });
  if (result.code !== 0) {
    if (!refusesCommits(result.stderr))
      throw gitError(`${what} of ${session.remote.description}`, result.stderr);
    // An old server gives only what a reference names: then the commit is in the history of one.
    const everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
    await session.git(what, ["fetch", ...always, ...filtered, "--", "origin", ...everything]);
  }
  const type = await session.git(what, ["cat-file", "-t", commit], { mayFail: true });
  if (type.stdout.toString().trim() !== "commit")
    throw new AppError(
      gitErrors.GIT_COMMIT_NOT_FOUND,
      `cannot ${what} of ${session.remote.description}: the server does not have this commit any more`,
    );
}

/** Fetches single objects of a commit that was fetched without them. */
export async function fetchObjects(
  session: Session,
  what: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const args = [
    "-c",
    "fetch.negotiationAlgorithm=noop",
    "fetch",
    ...always,
    "--filter=blob:none",
    "--stdin",
    "origin",
  ];
  await session.git(what, args, { input: `${[...new Set(ids)].join("\n")}\n` });
}
