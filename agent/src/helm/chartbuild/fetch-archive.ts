/**
 * The archive of any pin: downloaded as it is, or made here from what is downloaded. A build has a directory of its own, which is
 * removed at its end; a reader reads what tenants wrote. The chart cache shares builds and keeps their archives.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError, messageOf } from "@flotilla/shared/errors";
import {
  type ChartBuild,
  chartErrors,
  type DownloadPin,
  describePin,
  type FetchArchive,
  type FetchedArchive,
  type FetchRequest,
  isTreePin,
  type Pin,
  type TreePin,
  type WriteChunk,
} from "@flotilla/shared/source";
import { dependencyAccess, dependencyLocation } from "@flotilla/shared/source/chartbuild";
import type { SourceClient } from "@flotilla/shared/source/client";
import type { GitClient } from "@flotilla/shared/source/git";
import type { BuildTask, RemoteDependency } from "./build-task.ts";
import { downloadFile } from "./download-file.ts";

/** Resolves with the dependencies that have to be downloaded; none after `package`. Throws what `performBuildTask` throws. */
export type BuildCharts = (task: BuildTask, pin: Pin) => Promise<readonly RemoteDependency[]>;

export interface FetchArchiveDeps {
  readonly charts: Pick<SourceClient, "fetch" | "resolve"> & {
    readonly buckets: Pick<SourceClient["buckets"], "checkout">;
  };
  readonly git: Pick<GitClient, "checkout">;
  readonly buildChart: BuildCharts;
  /** A directory of its own. What is left in it from an earlier process is removed. */
  readonly dir: string;
}

/** Flux's limit of a chart. */
const maxChartBytes = 10 * 1024 * 1024;

/** Downloads of the dependencies of one chart at a time. */
const batchSize = 4;

export function createFetchArchive(deps: FetchArchiveDeps): FetchArchive {
  let prepared: Promise<void> | undefined;

  async function prepare(): Promise<void> {
    await rm(deps.dir, { recursive: true, force: true });
    await mkdir(deps.dir, { recursive: true, mode: 0o700 });
  }

  return async function fetchArchive(pin, write, request) {
    if (!isTreePin(pin) && (pin.kind === "tarball" || pin.build === undefined))
      return await deps.charts.fetch(pin, write, request);
    const { timeoutMs } = request;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal =
      request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
    prepared ??= prepare();
    let dir: string | undefined;
    try {
      await prepared;
      dir = await mkdtemp(join(deps.dir, "build-"));
      return await build(deps, pin, { dir, write, request: { ...request, signal } });
    } catch (thrown) {
      if (request.signal?.aborted === true || !timeout.aborted) throw onDisk(thrown, pin);
      throw new AppError(
        chartErrors.CHART_DOWNLOAD,
        `build the chart ${describePin(pin)}: it took more than ${timeoutMs / 1000} s`,
        { cause: thrown },
      );
    } finally {
      if (dir !== undefined) await rm(dir, { recursive: true, force: true });
    }
  };
}

interface BuildRequest {
  readonly dir: string;
  readonly write: WriteChunk;
  readonly request: FetchRequest & { readonly signal: AbortSignal };
}

async function build(
  deps: FetchArchiveDeps,
  pin: TreePin | Exclude<DownloadPin, { readonly kind: "tarball" }>,
  { dir, write, request }: BuildRequest,
): Promise<FetchedArchive> {
  const origin = describePin(pin);
  const source = await fetchSource(deps, pin, dir, request);
  const missing =
    source.kind === "archive"
      ? []
      : await deps.buildChart({ step: "inspect", source, origin }, pin);
  const { valuesFiles, ignoreMissingValuesFiles }: ChartBuild = pin.build ?? {};
  const target = join(dir, "chart.tgz");
  await deps.buildChart(
    {
      step: "package",
      source,
      origin,
      version: pin.version,
      target,
      ...(valuesFiles !== undefined && { valuesFiles: [...valuesFiles] }),
      ...(ignoreMissingValuesFiles !== undefined && { ignoreMissingValuesFiles }),
      dependencies: await downloadDependencies(deps, missing, dir, request),
      // In a registry Flux does not limit charts.
      maxBytes: pin.kind === "oci" ? request.maxBytes : Math.min(maxChartBytes, request.maxBytes),
    },
    pin,
  );
  request.signal.throwIfAborted();
  const built = await readBuilt(target, write);
  const sourceDigest = source.kind === "tree" ? source.digest : undefined;
  return { ...built, ...(sourceDigest !== undefined && { sourceDigest }) };
}

async function fetchSource(
  { charts, git }: FetchArchiveDeps,
  pin: TreePin | DownloadPin,
  dir: string,
  request: BuildRequest["request"],
) {
  if (!isTreePin(pin)) {
    const file = join(dir, "source.tgz");
    await downloadFile(charts.fetch, pin, file, request);
    return { kind: "archive", file } as const;
  }
  const root = join(dir, "source");
  await mkdir(root, { mode: 0o700 });
  if (pin.kind === "git") await git.checkout(pin, root, request);
  const digest =
    pin.kind === "bucket"
      ? await charts.buckets.checkout(pin, root, request.access, request)
      : undefined;
  return { kind: "tree", root, path: pin.path, digest } as const;
}

async function downloadDependencies(
  { charts }: FetchArchiveDeps,
  missing: readonly RemoteDependency[],
  dir: string,
  request: BuildRequest["request"],
) {
  async function download(dependency: RemoteDependency, file: string) {
    const access = dependencyAccess(dependency, request.access);
    try {
      const location = dependencyLocation(dependency);
      const { pin } = await charts.resolve(location, dependency.version, access, request);
      const maxBytes = Math.min(maxChartBytes, request.maxBytes);
      await downloadFile(charts.fetch, pin, file, { ...request, access, maxBytes });
    } catch (thrown) {
      throw new AppError(
        chartErrors.CHART_DEPENDENCY,
        `dependency ${JSON.stringify(dependency.name)}: ${messageOf(thrown)}`,
        { cause: thrown },
      );
    }
    return { ...dependency, file };
  }

  const downloaded: Awaited<ReturnType<typeof download>>[] = [];
  for (let at = 0; at < missing.length; at += batchSize) {
    const batch = missing.slice(at, at + batchSize);
    const results = await Promise.allSettled(
      batch.map((each, index) => download(each, join(dir, `dependency-${at + index}.tgz`))),
    );
    // After a failure, too, none of them writes any more when the directory is removed.
    for (const result of results) {
      if (result.status === "rejected") throw result.reason;
      downloaded.push(result.value);
    }
  }
  return downloaded;
}

async function readBuilt(path: string, write: WriteChunk): Promise<FetchedArchive> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    sizeBytes += chunk.length;
    await write(chunk);
  }
  return { digest: `sha256:${hash.digest("hex")}`, sizeBytes };
}

/** Errors of the file system have a code of their own. */
function onDisk(thrown: unknown, pin: Pin): unknown {
  if (thrown instanceof AppError || !(thrown instanceof Error) || !("syscall" in thrown))
    return thrown;
  const { code } = AppError.from(thrown);
  return new AppError(chartErrors.CHART_CACHE, `build the chart ${describePin(pin)}: ${code}`, {
    cause: thrown,
  });
}
