/** Reads the files of a chart that Helm may render: templates, values and others, including the files of subcharts. */
import { createReadStream } from "node:fs";
import { posix } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { ChartFile } from "@flotilla/shared/source/cache";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { extract } from "tar-stream";
import * as z from "zod";
import { agentErrors } from "../../base/errors/index.ts";
import { outsideFunctions, type TemplateFile } from "./template-calls.ts";

export interface ChartTemplates {
  readonly templates: readonly TemplateFile[];
  readonly values: readonly TemplateFile[];
  /** Other files that contain the name of one of those functions. */
  readonly files: readonly TemplateFile[];
  /** Both of the chart itself; empty: Helm rejects it. */
  readonly name: string;
  readonly version: string;
}

const MiB = 1024 * 1024;

/** Helm's own limit of the files of a chart. */
const maxUnpackedBytes = 100 * MiB;

/** The limit of templates and values files. Helm stores them in a Secret of 1 MiB, compressed. */
const maxTemplateBytes = 32 * MiB;

/** The limit of the files with the headers between them, which Helm does not limit. */
const maxArchiveBytes = 128 * MiB;
const maxFiles = 20_000;

/** Charts within charts. */
const maxDepth = 10;

/** Throws CHART_UNREADABLE and LIMIT_EXCEEDED. */
export async function readChartTemplates({
  path: archive,
  digest,
}: Pick<ChartFile, "path" | "digest">): Promise<ChartTemplates> {
  const templates: TemplateFile[] = [];
  const values: TemplateFile[] = [];
  const files: TemplateFile[] = [];
  let chart = unnamed;
  let unpackedBytes = 0;
  /** The streams replace it by errors of their own. */
  let exceeded: AppError | undefined;
  let templateBytes = 0;
  let archiveBytes = 0;
  let entryCount = 0;

  function exceedLimit(what: string): AppError {
    exceeded ??= new AppError(agentErrors.LIMIT_EXCEEDED, `read the chart ${digest}: ${what}`);
    return exceeded;
  }

  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      archiveBytes += chunk.length;
      if (archiveBytes > maxArchiveBytes)
        throw exceedLimit(`it decompresses to more than ${maxArchiveBytes / MiB} MiB`);
      yield chunk;
    }
  }

  async function read(
    packed: NodeJS.ReadableStream | readonly Uint8Array[],
    within: string,
    depth: number,
  ): Promise<void> {
    if (depth > maxDepth) throw exceedLimit(`it has more than ${maxDepth} charts within charts`);
    const inner: { readonly path: string; readonly bytes: Buffer }[] = [];
    const entries = extract();
    entries.on("entry", ({ name: entry, type }, stream, next) => {
      const path = within + entry;
      entryCount += 1;
      if (entryCount > maxFiles) return next(exceedLimit(`it has more than ${maxFiles} files`));
      // Helm reads every kind of entry except directories.
      const kind = type === "directory" ? undefined : kindOf(entry);
      collect(stream, kind).then((bytes) => {
        if (depth === 0 && pathInChart(entry) === "Chart.yaml") chart = chartIn(bytes.toString());
        if (kind === "chart") inner.push({ path: `${path}!`, bytes });
        else if (kind === "template") templates.push({ path, text: bytes.toString() });
        else if (kind === "values") values.push({ path, text: bytes.toString() });
        else if (outsideFunctions.some((each) => bytes.includes(each)))
          files.push({ path, text: bytes.toString() });
        next();
      }, next);
    });
    await pipeline(packed, createGunzip(), counted, entries);
    for (const { path, bytes } of inner) await read([bytes], `${path}/`, depth + 1);
  }

  async function collect(
    stream: AsyncIterable<unknown>,
    kind: FileKind | undefined,
  ): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) {
      const bytes = chunk as Uint8Array; // Byte streams are not typed by chunk.
      unpackedBytes += bytes.length;
      if (kind === "template" || kind === "values") templateBytes += bytes.length;
      if (unpackedBytes > maxUnpackedBytes)
        throw exceedLimit(`its files have more than ${maxUnpackedBytes / MiB} MiB`);
      if (templateBytes > maxTemplateBytes)
        throw exceedLimit(`its templates have more than ${maxTemplateBytes / MiB} MiB`);
      if (kind !== undefined) chunks.push(bytes);
    }
    return Buffer.concat(chunks);
  }

  try {
    await read(createReadStream(archive), "", 0);
  } catch (thrown) {
    if (exceeded !== undefined) throw exceeded;
    throw new AppError(
      agentErrors.CHART_UNREADABLE,
      `read the templates in the archive ${digest}: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
  return { templates, values, files, ...chart };
}

function chartIn(chartYaml: string): ChartName {
  try {
    return chartSchema.parse(parseHelmYaml(chartYaml, { name: "Chart.yaml" }));
  } catch {
    // Helm reports it.
    return unnamed;
  }
}

const chartSchema = z.object({ name: z.string(), version: z.string().catch("") });
type ChartName = Readonly<z.infer<typeof chartSchema>>;
const unnamed: ChartName = { name: "", version: "" };

type FileKind = "template" | "values" | "chart" | "file";

function kindOf(name: string): FileKind {
  const path = pathInChart(name);
  if (/(^|\/)charts\/[^/]+\.tgz$/.test(path)) return "chart";
  if (/^(charts\/[^/]+\/)*templates\/.+/.test(path)) return "template";
  return /^(charts\/[^/]+\/)*values\.yaml$/.test(path) ? "values" : "file";
}

/** As Helm reads it: without the first directory, with any name, and with the separators of Windows. */
function pathInChart(name: string): string {
  const parts = name.split(name.includes("\\") ? "\\" : "/");
  return posix.normalize(parts.slice(1).join("/"));
}
