/**
 * Limits how many uses of Git servers run at the same time: after a start thousands of GitRepositories may be due, and each use is a
 * few processes. Each server has a limit of its own, so that one that never answers holds up no other.
 */
import { createSemaphore, type Semaphore } from "@flotilla/shared/concurrency";
import type { GitClient } from "@flotilla/shared/source/git";

type HubGit = Pick<GitClient, "resolve" | "readFiles" | "verify">;

const usesOfServer = 4;

export function limitGit(git: HubGit, uses = usesOfServer): HubGit {
  const servers = new Map<string, { readonly uses: Semaphore; waiting: number }>();

  /** The timeout of the request begins with `work`. */
  async function run<T>(
    url: string,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    const server = serverOf(url);
    const entry = servers.get(server) ?? { uses: createSemaphore(uses), waiting: 0 };
    servers.set(server, entry);
    entry.waiting += 1;
    try {
      return await entry.uses.run(async () => {
        signal?.throwIfAborted();
        return await work();
      });
    } finally {
      entry.waiting -= 1;
      if (entry.waiting === 0) servers.delete(server);
    }
  }

  return {
    resolve: (url, ref, request) => run(url, request.signal, () => git.resolve(url, ref, request)),
    readFiles: (at, request) => run(at.url, request.signal, () => git.readFiles(at, request)),
    verify: (at, signatures, request) =>
      run(at.url, request.signal, () => git.verify(at, signatures, request)),
  };
}

function serverOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
