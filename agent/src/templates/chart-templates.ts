/** Reads the files of a chart that Helm may render: templates, values and others, including those of subcharts. */
import { createReadStream } from "node:fs";
import { posix } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { ChartFile } from "@flotilla/shared/source/cache";
import { extract } from "tar-stream";
import { agentErrors } from "../errors/index.ts";
import { outsideFunctions, type TemplateFile } from "./template-calls.ts";

export interface ChartTemplates {
  readonly templates: readonly TemplateFile[];
  readonly values: readonly TemplateFile[];
  /** Other files that contain the name of one of those functions. */
  readonly files: readonly TemplateFile[];
}

/** Helm's own limit. */
const maxUnpackedBytes = 100 * 1024 * 1024;

/** Throws CHART_UNREADABLE. */
export async function readChartTemplates({
  path: archive,
  digest,
}: Pick<ChartFile, "path" | "digest">): Promise<ChartTemplates> {
  const templates: TemplateFile[] = [];
  const values: TemplateFile[] = [];
  const files: TemplateFile[] = [];
  let unpackedBytes = 0;

  async function read(
    packed: NodeJS.ReadableStream | readonly Uint8Array[],
    within: string,
  ): Promise<void> {
    const inner: { readonly path: string; readonly bytes: Buffer }[] = [];
    const entries = extract();
    entries.on("entry", ({ name, type }, stream, next) => {
      const path = within + name;
      // Helm reads every kind of entry except directories.
      const kind = type === "directory" ? undefined : kindOf(name);
      collect(stream, kind !== undefined).then((bytes) => {
        if (kind === "chart") inner.push({ path: `${path}!`, bytes });
        else if (kind === "template") templates.push({ path, text: bytes.toString() });
        else if (kind === "values") values.push({ path, text: bytes.toString() });
        else if (outsideFunctions.some((name) => bytes.includes(name)))
          files.push({ path, text: bytes.toString() });
        next();
      }, next);
    });
    await pipeline(packed, createGunzip(), entries);
    for (const { path, bytes } of inner) await read([bytes], `${path}/`);
  }

  async function collect(stream: AsyncIterable<unknown>, isNeeded: boolean): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) {
      const bytes = chunk as Uint8Array; // Byte streams are not typed by chunk.
      unpackedBytes += bytes.length;
      if (unpackedBytes > maxUnpackedBytes)
        throw new Error(`it decompresses to more than ${maxUnpackedBytes} bytes`);
      if (isNeeded) chunks.push(bytes);
    }
    return Buffer.concat(chunks);
  }

  try {
    await read(createReadStream(archive), "");
  } catch (thrown) {
    throw new AppError(
      agentErrors.CHART_UNREADABLE,
      `read the templates in the archive ${digest}: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
  return { templates, values, files };
}

function kindOf(name: string): "template" | "values" | "chart" | "file" {
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
