/** Fetching objects of a repository: as few as are needed. */
import { AppError } from "../../../runtime/errors/index.ts";
import { gitErrors } from "./errors.ts";
import { refusesObjects } from "./git-error.ts";
import type { Session } from "./session.ts";

/** What comes with a commit: everything, its directories without the content of files, or nothing. */
export type Filter = "none" | "blob:none" | "tree:0";

const always = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];

/** Fetches a commit without its history. Throws GIT_COMMIT_NOT_FOUND. */
export async function fetchCommit(session: Session, commit: string, filter: Filter): Promise<void> {
  const what = `fetch commit ${commit}`;
  await fetchWith(session, commit, filter === "none" ? [] : [`--filter=${filter}`]);
  const type = await session.git(what, ["cat-file", "-t", commit], { mayFail: true });
  if (type.stdout.toString().trim() !== "commit")
    throw new AppError(
      gitErrors.GIT_COMMIT_NOT_FOUND,
      `cannot ${what} of ${session.remote.description}: the server does not have this commit any more`,
    );
}

async function fetchWith(
  session: Session,
  commit: string,
  options: readonly string[],
): Promise<void> {
  const what = `fetch commit ${commit}`;
  const args = ["fetch", ...always, "--depth=1", ...options, "--", "origin", commit];
  const result = await session.git(what, args, { mayFail: true });
  if (result.code === 0) return;
  if (!refusesObjects(result.stderr)) throw session.errorOf(what, result.stderr);
  await fetchEverything(session, what, options);
}

/** An old server gives only what a reference names: then the commit is in the history of one. */
async function fetchEverything(
  session: Session,
  what: string,
  options: readonly string[],
): Promise<void> {
  const everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  await session.git(what, ["fetch", ...always, ...options, "--", "origin", ...everything]);
}

/** Fetches single objects of a commit that was fetched without them. */
export async function fetchObjects(
  session: Session,
  what: string,
  { commit, ids }: { readonly commit: string; readonly ids: readonly string[] },
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
  const input = `${[...new Set(ids)].join("\n")}\n`;
  const result = await session.git(what, args, { input, mayFail: true });
  if (result.code === 0) return;
  if (!refusesObjects(result.stderr)) throw session.errorOf(what, result.stderr);
  // In version 0 of the protocol, which an SSH server uses that does not accept GIT_PROTOCOL, only commits are given.
  const again = ["--refetch", "--no-filter"];
  const tip = ["fetch", ...always, "--depth=1", ...again, "--", "origin", commit];
  const refetched = await session.git(what, tip, { mayFail: true });
  // Git prints no reason that could be recognized when the commit is refused there.
  if (refetched.code !== 0) await fetchEverything(session, what, again);
}
