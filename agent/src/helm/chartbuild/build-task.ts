/** Makes charts from what tenants wrote; a reader does it. */
import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors } from "@flotilla/shared/source";
import {
  type MissingDependency,
  mergeValuesFiles,
  missingDependencies,
  parseChartLock,
  pathInSource,
  satisfiesVersion,
  type ValuesFile,
  withVersion,
} from "@flotilla/shared/source/chartbuild";
import { parseVersion } from "@flotilla/shared/version";
import * as z from "zod";
import { buildError, buildLimits, type ChartFiles, metadataOf, textOf } from "./chart-files.ts";
import { definitionFiles, isDefinition } from "./definitions.ts";
import { packChart } from "./pack-chart.ts";
import { readChartArchive, readPackedFolder } from "./read-archive.ts";
import { findEntry, readChartDirectory, readSourceFile } from "./read-directory.ts";

const sourceSchema = z.discriminatedUnion("kind", [
  /** `path`: of the chart, from `root`. */
  z.object({ kind: z.literal("tree"), root: z.string(), path: z.string() }),
  /** A packaged chart. */
  z.object({ kind: z.literal("archive"), file: z.string() }),
  /** A tar archive of the chart's folder, with the paths from it. */
  z.object({ kind: z.literal("folder"), file: z.string() }),
]);

const dependencySchema = z.object({
  name: z.string(),
  version: z.string(),
  repository: z.string(),
});

export const buildTask = z.discriminatedUnion("step", [
  /** `origin`: of the source, for messages. */
  z.object({ step: z.literal("inspect"), source: sourceSchema, origin: z.string() }),
  z.object({
    step: z.literal("package"),
    source: sourceSchema,
    origin: z.string(),
    /** In place of the chart's own. */
    version: z.string().optional(),
    valuesFiles: z.array(z.string()).optional(),
    ignoreMissingValuesFiles: z.boolean().optional(),
    /** The archives of the dependencies that the inspection named. */
    dependencies: z.array(dependencySchema.extend({ file: z.string() })),
    /** The archive to be written. */
    target: z.string(),
    maxBytes: z.number(),
  }),
  /** A packaged chart; `target`: the archive to be written. */
  z.object({ step: z.literal("definitions"), file: z.string(), target: z.string() }),
]);

export type BuildTask = Readonly<z.infer<typeof buildTask>>;
type PackageTask = Extract<BuildTask, { readonly step: "package" }>;
type BuildSource = Readonly<z.infer<typeof sourceSchema>>;

/** What the agent downloads before the chart is packaged. */
export type RemoteDependency = Readonly<z.infer<typeof dependencySchema>>;

const localDependencySchema = z.object({ name: z.string(), version: z.string(), path: z.string() });

export const inspectReply = z.object({
  name: z.string(),
  version: z.string(),
  dependencies: z.array(dependencySchema),
  /** Charts beside it that it lacks; `path`: from the chart. */
  local: z.array(localDependencySchema),
});

export const definitionsReply = z.object({ hasDefinitions: z.boolean() });

/** Throws CHART_NOT_IN_SOURCE, CHART_VALUES_FILE, CHART_DEPENDENCY and CHART_BUILD. */
export async function performBuildTask(task: BuildTask): Promise<unknown> {
  switch (task.step) {
    case "inspect": {
      const { files, missing } = await loadChart(task.source, task.origin);
      const { name, version } = metadataOf(files);
      const dependencies = missing.filter((each) => each.kind === "remote");
      const local = missing.filter((each) => each.kind === "local");
      return { name, version, dependencies, local } satisfies z.input<typeof inspectReply>;
    }
    case "package":
      await packageChart(task);
      return {};
    case "definitions": {
      const archive = await readFile(task.file);
      const files = await readChartArchive(archive, "read the chart", buildLimits);
      const { name } = metadataOf(files);
      const { target } = task;
      const options = { name, origin: "the chart", target, maxBytes: buildLimits.chartBytes };
      const kept = await definitionFiles(files);
      const hasDefinitions = [...kept.keys()].some((path) => isDefinition(path));
      if (hasDefinitions) await packChart(kept, options);
      return { hasDefinitions } satisfies z.input<typeof definitionsReply>;
    }
  }
}

async function packageChart(task: PackageTask): Promise<void> {
  const { source, version, target, maxBytes } = task;
  const { files, missing } = await loadChart(source, task.origin);
  const metadata = metadataOf(files);
  const built = new Map(files);
  if (version !== undefined) built.set("Chart.yaml", Buffer.from(withVersion(metadata, version)));
  if (task.valuesFiles !== undefined && task.valuesFiles.length > 0) {
    const values = mergeValuesFiles(await readValuesFiles(task.valuesFiles, source, files), {
      ignoreMissing: task.ignoreMissingValuesFiles ?? false,
    });
    built.set("values.yaml", Buffer.from(values));
  }
  for (const dependency of missing)
    for (const [path, bytes] of dependency.kind === "local"
      ? await readLocal(dependency, source)
      : await readRemote(dependency, task.dependencies))
      built.set(`charts/${path}`, bytes);
  await packChart(built, { name: metadata.name, origin: task.origin, target, maxBytes });
}

async function loadChart(
  source: BuildSource,
  origin: string,
): Promise<{ readonly files: ChartFiles; readonly missing: readonly MissingDependency[] }> {
  if (source.kind === "archive") {
    const archive = await readFile(source.file);
    return { files: await readChartArchive(archive, "read the chart", buildLimits), missing: [] };
  }
  if (source.kind === "folder") {
    const files = await readPackedFolder(await readFile(source.file), origin, buildLimits);
    if (!files.has("Chart.yaml"))
      throw new AppError(chartErrors.CHART_NOT_IN_SOURCE, `${origin} has no Chart.yaml`);
    return { files, missing: missingDependencies(await dependencyFacts(files)) };
  }
  const path = pathInSource(source.path);
  const notFound = (why: string) =>
    new AppError(
      chartErrors.CHART_NOT_IN_SOURCE,
      `chart path ${JSON.stringify(source.path)} ${why} in ${origin}`,
    );
  if (path === undefined) throw notFound("leads out of the source");
  const found = await findEntry(source.root, path);
  if (found === undefined) throw notFound("does not exist");
  if (found.stats.isFile()) {
    const archive = await readFile(found.path);
    const files = await readChartArchive(archive, `read the chart ${path}`, buildLimits);
    return { files, missing: [] };
  }
  const files = await readChartDirectory(source.root, path, buildLimits);
  if (!files.has("Chart.yaml")) throw notFound("has no Chart.yaml");
  return { files, missing: missingDependencies(await dependencyFacts(files)) };
}

async function dependencyFacts(files: ChartFiles) {
  const metadata = metadataOf(files);
  const lockName = files.has("Chart.lock") ? "Chart.lock" : "requirements.lock";
  const lock = textOf(files, lockName);
  return {
    metadata,
    // Charts of later API versions do not have requirements.lock.
    lock:
      lock === undefined || (lockName === "requirements.lock" && metadata.apiVersion !== "v1")
        ? undefined
        : parseChartLock(lock, lockName),
    present: await presentCharts(files),
  };
}

/** The charts in the folder charts, as Helm finds them. */
async function presentCharts(files: ChartFiles) {
  const present = [];
  for (const [path, bytes] of files) {
    const [, name = "", rest] = /^charts\/([^/]+)(?:\/(.*))?$/s.exec(path) ?? [];
    if (name === "" || /^[._]/.test(name)) continue;
    if (rest === undefined && name.endsWith(".tgz"))
      present.push(
        metadataOf(await readChartArchive(bytes, `read ${path}`, buildLimits), `${path}!/`),
      );
    else if (rest === "Chart.yaml")
      present.push(metadataOf(new Map([[rest, bytes]]), `charts/${name}/`));
  }
  return present;
}

async function readValuesFiles(
  paths: readonly string[],
  source: BuildSource,
  files: ChartFiles,
): Promise<readonly ValuesFile[]> {
  const read = [];
  for (const path of paths) {
    const inside = pathInSource(path);
    if (inside === undefined)
      throw new AppError(
        chartErrors.CHART_VALUES_FILE,
        `the values file ${JSON.stringify(path)} is not in the source`,
      );
    const text =
      source.kind === "tree"
        ? await readSourceFile(source.root, inside, buildLimits)
        : textOf(files, inside);
    read.push({ path, text });
  }
  return read;
}

/** A chart in the same source, with the paths of its files from the folder charts. */
async function readLocal(
  { name, version, path }: Extract<MissingDependency, { readonly kind: "local" }>,
  source: BuildSource,
): Promise<ChartFiles> {
  if (source.kind !== "tree")
    throw buildError(`the chart ${JSON.stringify(name)} beside it is not known here`);
  const failed = (why: string) =>
    new AppError(
      chartErrors.CHART_DEPENDENCY,
      `dependency ${JSON.stringify(name)}: ${JSON.stringify(`file://${path}`)} ${why}`,
    );
  const inside = pathInSource(path, pathInSource(source.path));
  if (inside === undefined) throw failed("leads out of the source");
  const found = await findEntry(source.root, inside);
  if (found === undefined) throw failed("does not exist in the source");
  const isArchive = found.stats.isFile();
  const files = isArchive
    ? await readChartArchive(await readFile(found.path), `read ${inside}`, buildLimits)
    : await readChartDirectory(source.root, inside, buildLimits);
  const metadata = metadataOf(files, `${inside}/`);
  if (metadata.name !== name) throw failed(`is the chart ${JSON.stringify(metadata.name)}`);
  if (!satisfiesVersion(metadata.version, version))
    throw failed(
      `has version ${metadata.version}, which ${JSON.stringify(version)} does not allow`,
    );
  const folder = `${name}-${metadata.version}`;
  return new Map([...files].map(([file, bytes]) => [posix.join(folder, file), bytes]));
}

async function readRemote(
  { name, version, repository }: RemoteDependency,
  downloaded: PackageTask["dependencies"],
): Promise<ChartFiles> {
  const found = downloaded.find(
    (each) => each.name === name && each.version === version && each.repository === repository,
  );
  const failed = (why: string) =>
    new AppError(chartErrors.CHART_DEPENDENCY, `dependency ${JSON.stringify(name)}: ${why}`);
  if (found === undefined) throw failed("it was not downloaded");
  const archive = await readFile(found.file);
  const metadata = metadataOf(
    await readChartArchive(archive, `read the dependency ${JSON.stringify(name)}`, buildLimits),
    `${name}!/`,
  );
  if (metadata.name !== name)
    throw failed(`${repository} has the chart ${JSON.stringify(metadata.name)} under that name`);
  if (parseVersion(metadata.version) === undefined)
    throw failed(`its version ${JSON.stringify(metadata.version)} is not a version`);
  return new Map([[`${name}-${metadata.version}.tgz`, archive]]);
}
