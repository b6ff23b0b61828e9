/**
 * Makes the programs of the local fleet available: from the PATH, else from the cache, else from their publishers, else
 * built with Go. What was made once stays in the cache for all later runs and for every checkout of the repository.
 */
import { mkdir } from "node:fs/promises";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { type LocalConfig, readLocalConfig } from "../config.ts";
import { localErrors } from "../errors.ts";
import { cacheEntries, findInCache, makeEntry } from "./cache.ts";
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
  /** Instead of the configured one. */
  readonly cacheDir?: string;
  readonly config?: LocalConfig;
  readonly platform?: Platform;
  /** The table of tools; only tests bring their own. */
  readonly tools?: Readonly<Record<ToolName, Tool>>;
  readonly signal?: AbortSignal;
}

/** The paths of the named programs, each made available first. Throws one error for all that cannot be had. */
export async function ensureBinaries<N extends ToolName>(
  names: readonly N[],
  options: EnsureOptions = {},
): Promise<Readonly<Record<N, string>>> {
  const run = newRun(options);
  const paths = new Map<ToolName, string>();
  const wanted = toolNames
    .filter((name) => (names as readonly ToolName[]).includes(name))
    .map((name) => run.tools[name]);
  await Promise.all(wanted.map(async (tool) => setIfFound(paths, tool, await find(tool, run))));
  const missing = (): readonly Tool[] => wanted.filter((tool) => !paths.has(tool.name));
  if (missing().length > 0) {
    await mkdir(run.config.cacheDir, { recursive: true });
    const refusals = await downloadAll(missing(), run, paths);
    if (missing().length > 0 && !(await hasGo(run.go))) throw unavailable(missing(), refusals);
    for (const tool of missing())
      paths.set(tool.name, await build(tool, run, refusals.get(tool.name)));
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

function newRun(options: EnsureOptions): Run {
  const config = options.config ?? readLocalConfig();
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  return {
    config: options.cacheDir === undefined ? config : { ...config, cacheDir: options.cacheDir },
    tools: options.tools ?? tools,
    platform: options.platform ?? currentPlatform(),
    go: { environment: config.environment, ...signal },
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

/** Tries the publishers in turn; says why for each tool that did not come. */
async function downloadAll(
  missing: readonly Tool[],
  run: Run,
  paths: Map<ToolName, string>,
): Promise<ReadonlyMap<ToolName, string>> {
  const refusals = new Map<ToolName, string>();
  const client = downloadClient(run.config.proxy);
  // Without the internet every publisher is as far away as the first: only one of them is waited for.
  let isOffline = false;
  try {
    for (const tool of missing) {
      const download = tool.download(run.platform);
      if (download === undefined) {
        refusals.set(
          tool.name,
          `its publisher has no checked download for ${run.platform.os}/${run.platform.arch}`,
        );
        continue;
      }
      const mirror = run.config.mirrors[download.publisher];
      if (!run.config.downloads) refusals.set(tool.name, "FLOTILLA_DOWNLOADS is off");
      else if (mirror === undefined && isOffline)
        refusals.set(tool.name, "the internet cannot be reached");
      else {
        try {
          const base = mirror ?? publisherBases[download.publisher];
          const output = await make(tool, run, "downloaded", (path, report) =>
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
          refusals.set(tool.name, messageOf(thrown));
          if (mirror === undefined && isUnreachable(thrown)) isOffline = true;
        }
      }
    }
  } finally {
    await client.destroy();
  }
  return refusals;
}

function build(tool: Tool, run: Run, refusal: string | undefined): Promise<string> {
  return make(tool, run, "built", (path, report) => {
    report("building", refusal ?? "", tool.build.expectedSeconds * 1000);
    return goBuild(tool.name, tool.build, path, run.go);
  });
}

function make(
  tool: Tool,
  run: Run,
  kind: "downloaded" | "built",
  work: (output: string, report: ToolReport) => Promise<void>,
): Promise<string> {
  return makeEntry({
    cacheDir: run.config.cacheDir,
    tool,
    platform: run.platform,
    kind,
    work,
    report: toolReporter(tool.name, run.progress),
    ...(run.signal === undefined ? {} : { signal: run.signal }),
  });
}

/** One error for everything that is missing: a person installs Go once, not eight times. */
function unavailable(missing: readonly Tool[], refusals: ReadonlyMap<ToolName, string>): AppError {
  const lines = missing.map(
    (tool) => `  ${tool.name} ${tool.version}: ${refusals.get(tool.name) ?? "not downloaded"}`,
  );
  return new AppError(
    localErrors.BINARY_UNAVAILABLE,
    [
      "cannot get the programs of the local fleet: they are not on the PATH, could not be downloaded, and there is no Go to build them with.",
      ...lines,
      "install Go 1.26 or newer (https://go.dev/dl), or put fitting versions on the PATH, or set FLOTILLA_MIRROR_KUBERNETES, _HELM, _ETCD and _REGISTRY to a mirror.",
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
      throw new AppError(localErrors.BINARY_UNAVAILABLE, `find ${name}: it is in no table`);
    result[name] = path;
  }
  return result as Record<N, string>; // Every name was set in the loop above.
}
