/** Publishes a chart: packages it with Helm, adds it to an HTTP repository and pushes it to a registry. */
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "@flotilla/shared/errors";
import { localErrors } from "../errors.ts";
import { withLock } from "../process/index.ts";
import { type HelmRun, runHelm } from "./run-helm.ts";
import { ensureIndex, indexFileOf } from "./start-chart-repository.ts";
import type { RegistryUser } from "./start-registry.ts";

/** Where to publish a chart: either or both. */
export interface PublishTargets {
  /** The served folder of a chart repository. */
  readonly chartsDir?: string;
  readonly registry?: {
    /** The repository without the name of the chart: `oci://127.0.0.1:5000/charts`. */
    readonly repository: string;
    readonly plainHttp: boolean;
    readonly caFile?: string;
    readonly user?: RegistryUser;
  };
}

export interface PublishOptions {
  /** Path of the helm program. */
  readonly helm: string;
  /** Overrides the version in Chart.yaml. */
  readonly version?: string;
  readonly appVersion?: string;
  readonly to: PublishTargets;
  readonly signal?: AbortSignal;
}

export interface PublishedChart {
  readonly name: string;
  readonly version: string;
  /** The sha256 of the archive in hexadecimal. */
  readonly digest: string;
}

/** Publishes the chart in a folder; replaces a version that exists. Throws CHART_PUBLISH_FAILED. */
export async function publishChart(
  chartDir: string,
  options: PublishOptions,
): Promise<PublishedChart> {
  const { chartsDir, registry } = options.to;
  // Beside the served folder, if any, so that the archive can be renamed into it.
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
      `package ${chartDir}: helm package has created no archive`,
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

/** Moves the archive first, then the index that refers to it. */
function addToIndex(archive: Archive, chartsDir: string, run: HelmRun): Promise<void> {
  return withLock(join(dirname(resolve(chartsDir)), "index.lock"), async () => {
    await ensureIndex(chartsDir);
    const out = dirname(archive.file);
    // Without --url the index has relative URLs, which are independent of the port.
    await runHelm(["repo", "index", out, "--merge", indexFileOf(chartsDir)], run);
    await rename(archive.file, join(chartsDir, archive.fileName));
    await rename(join(out, "index.yaml"), indexFileOf(chartsDir));
  });
}

/** A top-level scalar of the Chart.yaml that Helm printed. */
function fieldOf(chartYaml: string, field: "name" | "version"): string {
  const value = new RegExp(`^${field}: *["']?([^"'\\s]+)`, "m").exec(chartYaml)?.[1];
  if (value === undefined)
    throw new AppError(localErrors.CHART_PUBLISH_FAILED, `read Chart.yaml: it has no ${field}`);
  return value;
}

/** The sample charts of the local fleet. */
export const sampleCharts = ["config", "web"] as const;
export type SampleChart = (typeof sampleCharts)[number];

/** The folder with the source of a sample chart. */
export function sampleChartDir(name: SampleChart): string {
  return fileURLToPath(new URL(`../../charts/${name}`, import.meta.url));
}
