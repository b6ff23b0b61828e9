/** Reads the files of a packaged chart as Helm does, with Helm's checks of paths. */
import { posix } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { extract } from "tar-stream";
import { type BuildLimits, buildError, type ChartFiles, createFileCount } from "./chart-files.ts";

/** `what` is read, for messages. Throws CHART_BUILD. */
export async function readChartArchive(
  archive: Uint8Array,
  what: string,
  limits: BuildLimits,
): Promise<ChartFiles> {
  const files = new Map<string, Buffer>();
  const count = createFileCount(what, limits);
  let unpackedBytes = 0;
  /** The streams replace it by errors of their own. */
  let failure: AppError | undefined;
  const entries = extract();

  entries.on("entry", ({ name, type, size }, stream, next) => {
    read().then(() => next(), next);

    async function read(): Promise<void> {
      const chunks: Uint8Array[] = [];
      try {
        if (type !== "directory") count.add(size);
        for await (const chunk of stream as AsyncIterable<Uint8Array>) chunks.push(chunk);
        if (type === "directory") return;
        const path = pathInArchive(name, what);
        if (files.has(path)) throw buildError(`${what}: it has ${JSON.stringify(path)} twice`);
        files.set(path, Buffer.concat(chunks));
      } catch (thrown) {
        if (thrown instanceof AppError) failure ??= thrown;
        throw thrown;
      }
    }
  });

  /** Headers count, too. */
  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      unpackedBytes += chunk.length;
      if (unpackedBytes > 2 * limits.chartBytes) {
        failure ??= buildError(`${what}: it decompresses to too much`);
        throw failure;
      }
      yield chunk;
    }
  }

  try {
    await pipeline(Readable.from([archive]), createGunzip(), counted, entries);
  } catch (thrown) {
    throw (
      failure ?? buildError(`${what}: it is not a packaged chart: ${messageOf(thrown)}`, thrown)
    );
  }
  return files;
}

/** Without the first directory, which may have any name. */
function pathInArchive(name: string, what: string): string {
  const parts = name.split(name.includes("\\") ? "\\" : "/");
  const path = posix.normalize(parts.slice(1).join("/"));
  const isOutside = path === "." || path.startsWith("..") || path.startsWith("/");
  if (isOutside || /^[a-zA-Z]:\//.test(path))
    throw buildError(
      `${what}: the path ${JSON.stringify(name)} is not in the directory of the chart`,
    );
  return path;
}
