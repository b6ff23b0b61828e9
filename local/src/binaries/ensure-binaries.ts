/**
 * Provides the programs of the local fleet: from the PATH, else from the cache, else downloaded from their publishers, else built
 * with Go. The cache is shared by all checkouts of the repository.
 */
import { mkdir } from "node:fs/promises";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { type LocalConfig, readLocalConfig } from "../config.ts";
import { localErrors } from "../errors.ts";
import { cacheEntries, createEntry, findInCache } from "./cache.ts";
import { downloadClient, downloadProgram, isUnreachable } from "./download.ts";
import { findOnPath } from "./find-on-path.ts";
import { goBuild, hasGo } from "./go-build.ts";
import { percentReporter, type ReportProgress, type ToolReport, toolReporter } from "./progress.ts";
import {
  currentPlatform,
  type Platform,
  publisherBases,
  type Tool,
  type ToolName,
  toolNames,
  tools,
} from "./tools.ts";

export { toolNames } from "./tools.ts";

export interface EnsureOptions {
  readonly progress?: ReportProgress;
  /** Replaces the configured folder. */
  readonly cacheDir?: string;
  readonly config?: LocalConfig;
  readonly platform?: Platform;
  /** Replaces the table of tools, for tests. */
  readonly tools?: Readonly<Record<ToolName, Tool>>;
  readonly signal?: AbortSignal;
}

/** The paths of the named programs. Throws one BINARY_UNAVAILABLE for all that are missing. */
export async function ensureBinaries<N extends ToolName>(
  names: readonly N[],
  options: EnsureOptions = {},
): Promise<Readonly<Record<N, string>>> {
  const run = startRun(options);
  const paths = new Map<ToolName, string>();
  const requested = toolNames
    .filter((name) => (names as readonly ToolName[]).includes(name))
    .map((name) => run.tools[name]);
  await Promise.all(requested.map(async (tool) => setIfFound(paths, tool, await find(tool, run))));
  const missing = (): readonly Tool[] => requested.filter((tool) => !paths.has(tool.name));
  if (missing().length > 0) {
    await mkdir(run.config.cacheDir, { recursive: true });
    const failures = await downloadAll(missing(), run, paths);
    if (missing().length > 0 && !(await hasGo(run.go))) throw unavailable(missing(), failures);
    for (const tool of missing())
      paths.set(tool.name, await build(tool, run, failures.get(tool.name)));
  }
  return pathsOf(names, paths);
}

interface Run {
  readonly config: LocalConfig;
  readonly tools: Readonly<Record<ToolName, Tool>>;
  readonly platform: Platform;
  readonly go: {
    readonly environment: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  };
  readonly signal?: AbortSignal;
  readonly progress: ReportProgress;
}

function startRun(options: EnsureOptions): Run {
  const config = options.config ?? readLocalConfig();
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  const platform = options.platform ?? currentPlatform();
  const target = { GOOS: platform.os, GOARCH: platform.arch };
  return {
    config: options.cacheDir === undefined ? config : { ...config, cacheDir: options.cacheDir },
    tools: options.tools ?? tools,
    platform,
    go: { environment: { ...config.environment, ...target }, ...signal },
    ...signal,
    progress: options.progress ?? (() => undefined),
  };
}

async function find(tool: Tool, run: Run): Promise<string | undefined> {
  const onPath = await findOnPath(tool, run.config.path);
  const path =
    onPath ??
    (await findInCache(tool, await cacheEntries(run.config.cacheDir, tool, run.platform)));
  if (path !== undefined) toolReporter(tool.name, run.progress)("found", path);
  return path;
}

function setIfFound(paths: Map<ToolName, string>, tool: Tool, path: string | undefined): void {
  if (path !== undefined) paths.set(tool.name, path);
}

/** Downloads one tool after the other; returns why each of the others could not be downloaded. */
async function downloadAll(
  missing: readonly Tool[],
  run: Run,
  paths: Map<ToolName, string>,
): Promise<ReadonlyMap<ToolName, string>> {
  const failures = new Map<ToolName, string>();
  const client = downloadClient(run.config.proxy);
  // Without the internet no publisher can be reached, so wait for the timeout of the first one only.
  let isOffline = false;
  try {
    for (const tool of missing) {
      const download = tool.download(run.platform);
      if (download === undefined) {
        failures.set(tool.name, whyNotPublished(tool, run.platform));
        continue;
      }
      const mirror = run.config.mirrors[download.publisher];
      if (!run.config.downloads) failures.set(tool.name, "FLOTILLA_DOWNLOADS is off");
      else if (mirror === undefined && isOffline) failures.set(tool.name, "internet not reachable");
      else {
        try {
          const base = mirror ?? publisherBases[download.publisher];
          const output = await create(tool, run, "downloaded", (path, report) =>
            downloadProgram(download, path, {
              client,
              base,
              onProgress: percentReporter(report, `${base}/${download.path}`),
              ...(run.signal === undefined ? {} : { signal: run.signal }),
            }),
          );
          paths.set(tool.name, output);
        } catch (thrown) {
          run.signal?.throwIfAborted();
          if (thrown instanceof AppError && thrown.code === localErrors.DISK_FULL.code)
            throw thrown;
          failures.set(tool.name, messageOf(thrown));
          if (mirror === undefined && isUnreachable(thrown)) isOffline = true;
        }
      }
    }
  } finally {
    await client.destroy();
  }
  return failures;
}

function whyNotPublished({ build }: Tool, { os, arch }: Platform): string {
  return build.module === undefined
    ? "a part of this repository"
    : `no download with a checksum for ${os}/${arch}`;
}

function build(tool: Tool, run: Run, failure: string | undefined): Promise<string> {
  return create(tool, run, "built", (path, report) => {
    report("building", failure ?? "", tool.build.expectedSeconds * 1000);
    return goBuild(tool.name, tool.build, path, run.go);
  });
}

function create(
  tool: Tool,
  run: Run,
  kind: "downloaded" | "built",
  work: (output: string, report: ToolReport) => Promise<void>,
): Promise<string> {
  return createEntry({
    cacheDir: run.config.cacheDir,
    tool,
    platform: run.platform,
    kind,
    work,
    report: toolReporter(tool.name, run.progress),
    ...(run.signal === undefined ? {} : { signal: run.signal }),
  });
}

/** One error for all missing programs. */
function unavailable(missing: readonly Tool[], failures: ReadonlyMap<ToolName, string>): AppError {
  const lines = missing.map(
    (tool) => `  ${tool.name} ${tool.version}: ${failures.get(tool.name) ?? "not downloaded"}`,
  );
  return new AppError(
    localErrors.BINARY_UNAVAILABLE,
    [
      "prepare the programs of the local fleet: not on the PATH, download failed, and Go is not installed to build them:",
      ...lines,
      "install Go 1.26 or newer (https://go.dev/dl), or put these versions on the PATH, or set FLOTILLA_MIRROR_KUBERNETES, _HELM, _KUSTOMIZE, _ETCD and _REGISTRY to a mirror.",
    ].join("\n"),
  );
}

function pathsOf<N extends ToolName>(
  names: readonly N[],
  paths: ReadonlyMap<ToolName, string>,
): Readonly<Record<N, string>> {
  const result: Partial<Record<N, string>> = {};
  for (const name of names) {
    const path = paths.get(name);
    if (path === undefined)
      throw new AppError(localErrors.BINARY_UNAVAILABLE, `find ${name}: unknown program`);
    result[name] = path;
  }
  return result as Record<N, string>; // Every name was set in the loop above.
}
