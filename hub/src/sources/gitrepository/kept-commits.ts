/**
 * Whether the commits of charts that were made earlier are still there. A chart of an equal version keeps its commit, as in Flux,
 * which stores the chart; here agents fetch the commit, and a repository may have been rewritten without it.
 */
import { createLruCache } from "@flotilla/shared/cache";
import { createSingleFlight } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import { type GitClient, gitErrors } from "@flotilla/shared/source/git";
import type { SourceTree } from "./tree-files.ts";

export interface KeptCommits {
  /**
   * Whether the server has the earlier commit, which it is asked for once for each commit that the GitRepository gets, however
   * many charts are of it.
   */
  isThere(
    earlier: SourceTree,
    current: Pick<SourceTree, "commit">,
    request: Parameters<GitClient["resolve"]>[2],
  ): Promise<boolean>;
}

const maxKnown = 1_000;

export function createKeptCommits(git: Pick<GitClient, "resolve">): KeptCommits {
  const known = createLruCache<boolean>(maxKnown);
  const flights = createSingleFlight<boolean>();

  return {
    async isThere({ uid, url, commit }, current, request) {
      if (commit === current.commit) return true;
      const key = `${uid} ${commit} ${current.commit} ${url}`;
      return (
        known.get(key) ??
        (await flights.run(
          key,
          async (signal) => {
            const isThere = await hasCommit(git, { url, commit }, { ...request, signal });
            known.set(key, isThere);
            return isThere;
          },
          request.signal,
        ))
      );
    },
  };
}

async function hasCommit(
  git: Pick<GitClient, "resolve">,
  { url, commit }: Pick<SourceTree, "url" | "commit">,
  request: Parameters<GitClient["resolve"]>[2],
): Promise<boolean> {
  try {
    await git.resolve(url, { commit }, request);
    return true;
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === gitErrors.GIT_COMMIT_NOT_FOUND.code)
      return false;
    throw thrown;
  }
}
