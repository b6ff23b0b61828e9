/** What can be rendered of a chart's archive: templates, values and other files, with those of all charts inside it. */
import { createReadStream } from "node:fs";
import { posix } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { ChartFile } from "@flotilla/shared/source/cache/chart-file.ts";
import { extract } from "tar-stream";
import { agentErrors } from "../errors.ts";
import { outsideFunctions, type TemplateFile } from "./template-calls.ts";

export interface ChartTemplates {
  readonly templates: readonly TemplateFile[];
  readonly values: readonly TemplateFile[];
  /** Others in which the name of one of those functions stands. */
  readonly files: readonly TemplateFile[];
}

/** Helm reads no chart that unpacks to more. */
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
      // Helm reads every kind of entry but folders.
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

  async function collect(stream: AsyncIterable<unknown>, isWanted: boolean): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) {
      const bytes = chunk as Uint8Array; // Streams of bytes have no type for their chunks.
      unpackedBytes += bytes.length;
      if (unpackedBytes > maxUnpackedBytes)
        throw new Error(`it unpacks to more than ${maxUnpackedBytes} bytes`);
      if (isWanted) chunks.push(bytes);
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

/** As Helm reads it: without the first folder, whatever that is called, and also where it was packed on Windows. */
function pathInChart(name: string): string {
  const parts = name.split(name.includes("\\") ? "\\" : "/");
  return posix.normalize(parts.slice(1).join("/"));
}
