/**
 * Files of the trees that GitRepositories have now: read once, however many HelmCharts need them. HelmCharts of one tree that
 * need files at the same time share a read, because each read fetches the tree again. What is kept is small: of a packaged chart
 * its Chart.yaml.
 */
import { posix } from "node:path";
import { createLruCache } from "@flotilla/shared/cache";
import {
  createKeyedMutex,
  createSingleFlight,
  type FairSemaphore,
} from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import { describeUrl } from "@flotilla/shared/source";
import { type GitClient, gitErrors } from "@flotilla/shared/source/git";
import { SourceError } from "../fluxsource/source-error.ts";
import { chartFileOfArchive, maxArchiveBytes, maxChartFileBytes } from "../helmchart/chart-file.ts";

export interface SourceTree {
  /** The UID of the GitRepository, whose credentials give access. */
  readonly uid: string;
  readonly url: string;
  readonly commit: string;
  readonly recurseSubmodules?: boolean | undefined;
}

type ReadRequest = Pick<
  Parameters<GitClient["readFiles"]>[1],
  "access" | "signal" | "timeoutMs"
> & {
  /** The namespace of the GitRepository: the room that its files take is of the share of this namespace. */
  readonly namespace: string;
};

/** Paths of a tree. */
export interface TreePaths {
  /** A Chart.yaml, a requirements.yaml, or else a packaged chart, whose Chart.yaml is read. */
  readonly contents: readonly string[];
  /** Whether there are such files. */
  readonly listed: readonly string[];
}

/** A file as text, or why a packaged chart has none. */
export type TreeFile =
  | { readonly kind: "file"; readonly text: string }
  | { readonly kind: "archive"; readonly chart: string | SourceError };

export interface FoundTree {
  /** Undefined: there is no such file. */
  content(path: string): TreeFile | undefined;
  has(path: string): boolean;
}

export interface TreeFiles {
  /** Throws what `GitClient.readFiles` throws. */
  read(tree: SourceTree, paths: TreePaths, request: ReadRequest): Promise<FoundTree>;
}

export interface TreeFilesDeps {
  readonly git: Pick<GitClient, "readFiles">;
  /** For the bytes of files while they are read, in all of the hub. */
  readonly budget: FairSemaphore;
}

/** By what is wanted and path; false: there is no such file. */
type Files = Map<string, TreeFile | boolean>;

/** A read that has not begun: more paths may be added. */
interface Batch {
  readonly id: string;
  readonly wanted: Set<string>;
}

const maxTrees = 256;
/** The limit of all files that are kept, together. */
const maxBytes = 8 * 1024 * 1024;
/** What one that is kept takes besides its text. */
const fileBytes = 128;
/** The limit of all files of one read. */
const maxReadBytes = 32 * 1024 * 1024;

const chartTexts: ReadonlySet<string> = new Set(["Chart.yaml", "requirements.yaml"]);
const listedPrefix = "? ";
const contentPrefix = "= ";

export function createTreeFiles({ git, budget }: TreeFilesDeps): TreeFiles {
  const known = createLruCache<Files>(maxTrees, { maxWeight: maxBytes, weightOf: bytesOf });
  const batches = new Map<string, Batch>();
  const flights = createSingleFlight<Files>();
  const trees = createKeyedMutex();
  let count = 0;

  function batchOf(key: string): Batch {
    const waiting = batches.get(key);
    if (waiting !== undefined) return waiting;
    count += 1;
    const batch = { id: `${count}`, wanted: new Set<string>() };
    batches.set(key, batch);
    return batch;
  }

  /** Reads what is not known of `wanted`, which is called once no other read of the tree is running. */
  function load(
    key: string,
    tree: SourceTree,
    wanted: () => Iterable<string>,
    request: ReadRequest,
  ): Promise<Files> {
    return trees.run(key, async () => {
      request.signal?.throwIfAborted();
      const files: Files = new Map(known.get(key));
      const missing = [...wanted()].filter((each) => !files.has(each));
      if (missing.length === 0) return files;
      const { url, commit, recurseSubmodules } = tree;
      const { namespace } = request;
      const found = await git.readFiles<TreeFile>(
        { url, commit, recurseSubmodules, files: missing.map(fileOf) },
        {
          ...request,
          parse: (path, bytes) => treeFile(tree, path, bytes),
          maxTotalBytes: maxReadBytes,
          reserve: (weight, work) =>
            budget.run({ caller: namespace, weight, signal: request.signal }, work),
        },
      );
      for (const each of missing) {
        const path = pathOf(each);
        files.set(
          each,
          each.startsWith(contentPrefix)
            ? (found.contents.get(path) ?? false)
            : found.present.has(path),
        );
      }
      known.set(key, files);
      return files;
    });
  }

  return {
    async read(tree, { contents, listed }, request) {
      const wanted = [
        ...contents.map((path) => `${contentPrefix}${path}`),
        ...listed.map((path) => `${listedPrefix}${path}`),
      ];
      const { uid, commit, url, recurseSubmodules = false } = tree;
      const key = `${uid} ${commit} ${recurseSubmodules} ${url}`;
      const found = known.get(key);
      if (found !== undefined && wanted.every((each) => found.has(each))) return foundIn(found);
      const batch = batchOf(key);
      for (const each of wanted) batch.wanted.add(each);
      /** Nothing can be added to it from then on. */
      const begin = (): Iterable<string> => {
        if (batches.get(key) === batch) batches.delete(key);
        return batch.wanted;
      };
      try {
        return foundIn(
          await flights.run(
            batch.id,
            (signal) => load(key, tree, begin, { ...request, signal }),
            request.signal,
          ),
        );
      } catch (thrown) {
        const isTooLarge = AppError.from(thrown).code === gitErrors.GIT_TOO_LARGE.code;
        // Maybe a file of another HelmChart.
        if (!isTooLarge || batch.wanted.size === wanted.length) throw thrown;
        return foundIn(await load(key, tree, () => wanted, request));
      }
    },
  };
}

function foundIn(files: Files): FoundTree {
  return {
    content(path) {
      const file = files.get(`${contentPrefix}${path}`);
      return typeof file === "object" ? file : undefined;
    },
    has: (path) => files.get(`${listedPrefix}${path}`) === true,
  };
}

function pathOf(wanted: string): string {
  return wanted.slice(contentPrefix.length);
}

function fileOf(wanted: string) {
  const path = pathOf(wanted);
  if (wanted.startsWith(listedPrefix)) return { path };
  return { path, maxBytes: isText(path) ? maxChartFileBytes : maxArchiveBytes };
}

function isText(path: string): boolean {
  return chartTexts.has(posix.basename(path));
}

/** Does not throw for a packaged chart: the read may be for other charts, too. */
async function treeFile(
  { url, commit }: SourceTree,
  path: string,
  bytes: Buffer,
): Promise<TreeFile> {
  if (isText(path)) return { kind: "file", text: bytes.toString() };
  try {
    const where = `${path} of commit ${commit} of ${describeUrl(url)}`;
    return { kind: "archive", chart: await chartFileOfArchive(bytes, where) };
  } catch (thrown) {
    if (!(thrown instanceof SourceError)) throw thrown;
    return { kind: "archive", chart: thrown };
  }
}

function bytesOf(files: Files): number {
  let sum = 0;
  for (const [wanted, file] of files) {
    const text = typeof file !== "object" ? "" : file.kind === "file" ? file.text : file.chart;
    sum += wanted.length + fileBytes + (typeof text === "string" ? text.length : 0);
  }
  return sum;
}
