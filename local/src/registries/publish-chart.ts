/** Publishes a chart folder: packages it with Helm, puts it into an HTTP repository's folder, pushes it to a registry. */
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { localErrors } from "../errors.ts";
import { withLock } from "../process/lock.ts";
import { type HelmRun, runHelm } from "./run-helm.ts";
import { ensureIndex, indexFileOf } from "./start-chart-repository.ts";
import type { RegistryUser } from "./start-registry.ts";

/** Where a chart goes: any or both. */
export interface PublishTargets {
  /** The folder that a chart repository serves. */
  readonly chartsDir?: string;
  readonly registry?: {
    /** The chart's address without its name: `oci://127.0.0.1:5000/charts`. */
    readonly repository: string;
    readonly plainHttp: boolean;
    readonly caFile?: string;
    readonly user?: RegistryUser;
  };
}

export interface PublishOptions {
  /** The path of the `helm` program. */
  readonly helm: string;
  /** Instead of the version in Chart.yaml. */
  readonly version?: string;
  readonly appVersion?: string;
  readonly to: PublishTargets;
  readonly signal?: AbortSignal;
}

export interface PublishedChart {
  readonly name: string;
  readonly version: string;
  /** The sha256 of the archive, in hexadecimal. */
  readonly digest: string;
}

/** Publishes the chart in a folder. A version that is there already is replaced. */
export async function publishChart(
  chartDir: string,
  options: PublishOptions,
): Promise<PublishedChart> {
  const { chartsDir, registry } = options.to;
  // Beside the served folder where there is one, so that the archive can be moved there in one step.
  const parent = chartsDir === undefined ? tmpdir() : dirname(resolve(chartsDir));
  const home = await mkdtemp(join(parent, ".publish-"));
  try {
    const run: HelmRun = {
      helm: options.helm,
      home,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    };
    const archive = await packageChart(chartDir, options, run);
    const digest = createHash("sha256")
      .update(await readFile(archive.file))
      .digest("hex");
    if (registry !== undefined) await push(archive.file, registry, run);
    if (chartsDir !== undefined) await addToIndex(archive, chartsDir, run);
    return { name: archive.name, version: archive.version, digest };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

interface Archive {
  readonly file: string;
  readonly fileName: string;
  readonly name: string;
  readonly version: string;
}

async function packageChart(
  chartDir: string,
  options: PublishOptions,
  run: HelmRun,
): Promise<Archive> {
  const out = join(run.home, "out");
  await runHelm(
    [
      "package",
      resolve(chartDir),
      "--destination",
      out,
      ...(options.version === undefined ? [] : ["--version", options.version]),
      ...(options.appVersion === undefined ? [] : ["--app-version", options.appVersion]),
    ],
    run,
  );
  const fileName = (await readdir(out)).find((one) => one.endsWith(".tgz"));
  if (fileName === undefined)
    throw new AppError(
      localErrors.CHART_PUBLISH_FAILED,
      `package ${chartDir}: Helm wrote no archive`,
    );
  const file = join(out, fileName);
  const shown = await runHelm(["show", "chart", file], run);
  return { file, fileName, name: fieldOf(shown, "name"), version: fieldOf(shown, "version") };
}

async function push(
  file: string,
  registry: NonNullable<PublishTargets["registry"]>,
  run: HelmRun,
): Promise<void> {
  const host = new URL(registry.repository.replace(/^oci:/, "https:")).host;
  await runHelm(
    [
      "push",
      file,
      registry.repository,
      ...(registry.plainHttp ? ["--plain-http"] : []),
      ...(registry.caFile === undefined ? [] : ["--ca-file", registry.caFile]),
    ],
    registry.user === undefined ? run : { ...run, credentials: { host, ...registry.user } },
  );
}

/** The archive first, then the index that speaks of it, each in one step. */
function addToIndex(archive: Archive, chartsDir: string, run: HelmRun): Promise<void> {
  return withLock(join(dirname(resolve(chartsDir)), "index.lock"), async () => {
    await ensureIndex(chartsDir);
    const out = dirname(archive.file);
    // Without an address the index has relative ones, which stay right wherever the folder is served.
    await runHelm(["repo", "index", out, "--merge", indexFileOf(chartsDir)], run);
    await rename(archive.file, join(chartsDir, archive.fileName));
    await rename(join(out, "index.yaml"), indexFileOf(chartsDir));
  });
}

/** A top-level scalar of the Chart.yaml that Helm printed. */
function fieldOf(chartYaml: string, field: "name" | "version"): string {
  const value = new RegExp(`^${field}: *["']?([^"'\\s]+)`, "m").exec(chartYaml)?.[1];
  if (value === undefined)
    throw new AppError(localErrors.CHART_PUBLISH_FAILED, `read the chart: it has no ${field}`);
  return value;
}

/** The charts that the local fleet publishes to begin with. */

export const sampleCharts = ["config", "web"] as const;
export type SampleChart = (typeof sampleCharts)[number];

/** The folder with the source of a sample chart. */
export function sampleChartDir(name: SampleChart): string {
  return fileURLToPath(new URL(`../../charts/${name}`, import.meta.url));
}
