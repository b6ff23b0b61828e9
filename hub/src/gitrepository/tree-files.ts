/**
 * Files of the trees that GitRepositories have now: read once, however many HelmCharts need them. HelmCharts of one tree that
 * need files at the same time share a read, because each read fetches the tree again.
 */
import { createLruCache } from "@flotilla/shared/cache";
import { createKeyedMutex, createSingleFlight } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import { type GitClient, gitErrors } from "@flotilla/shared/source/git";

export interface SourceTree {
  /** Of the GitRepository, whose credentials give access. */
  readonly uid: string;
  readonly url: string;
  readonly commit: string;
  readonly recurseSubmodules?: boolean | undefined;
}

type ReadRequest = Parameters<GitClient["readFiles"]>[1];

export interface TreeFiles {
  /** As `GitClient.readFiles`, with files besides that others need. */
  read(
    tree: SourceTree,
    paths: readonly string[],
    request: ReadRequest,
  ): Promise<ReadonlyMap<string, Buffer | undefined>>;
}

type Files = Map<string, Buffer | undefined>;

/** A read that has not begun: more paths may be added. */
interface Batch {
  readonly id: string;
  readonly paths: Set<string>;
}

const maxTrees = 256;
/** Of all files together. */
const maxBytes = 8 * 1024 * 1024;

export function createTreeFiles(git: Pick<GitClient, "readFiles">): TreeFiles {
  const known = createLruCache<Files>(maxTrees, { maxWeight: maxBytes, weightOf: bytesOf });
  const batches = new Map<string, Batch>();
  const flights = createSingleFlight<Files>();
  const trees = createKeyedMutex();
  let count = 0;

  function batchOf(key: string): Batch {
    const waiting = batches.get(key);
    if (waiting !== undefined) return waiting;
    count += 1;
    const batch = { id: `${count}`, paths: new Set<string>() };
    batches.set(key, batch);
    return batch;
  }

  /** Reads what is not known of `paths`, which is called once no other read of the tree is running. */
  function load(
    key: string,
    { url, commit, recurseSubmodules }: SourceTree,
    paths: () => Iterable<string>,
    request: ReadRequest,
  ): Promise<Files> {
    return trees.run(key, async () => {
      request.signal?.throwIfAborted();
      const files = new Map(known.get(key));
      const missing = [...paths()].filter((path) => !files.has(path));
      if (missing.length === 0) return files;
      const read = await git.readFiles({ url, commit, paths: missing, recurseSubmodules }, request);
      for (const [path, file] of read) files.set(path, file);
      known.set(key, files);
      return files;
    });
  }

  return {
    async read(tree, paths, request) {
      const { uid, commit, url, recurseSubmodules = false } = tree;
      const key = `${uid} ${commit} ${recurseSubmodules} ${url}`;
      const found = known.get(key);
      if (found !== undefined && paths.every((path) => found.has(path))) return found;
      const batch = batchOf(key);
      for (const path of paths) batch.paths.add(path);
      /** Nothing can be added to it from then on. */
      const begin = (): Iterable<string> => {
        if (batches.get(key) === batch) batches.delete(key);
        return batch.paths;
      };
      try {
        return await flights.run(
          batch.id,
          (signal) => load(key, tree, begin, { ...request, signal }),
          request.signal,
        );
      } catch (thrown) {
        const isTooLarge = AppError.from(thrown).code === gitErrors.GIT_TOO_LARGE.code;
        // Maybe a file of another HelmChart.
        if (!isTooLarge || batch.paths.size === paths.length) throw thrown;
        return await load(key, tree, () => paths, request);
      }
    },
  };
}

function bytesOf(files: Files): number {
  return [...files.values()].reduce((sum, file) => sum + (file?.length ?? 0), 0);
}
