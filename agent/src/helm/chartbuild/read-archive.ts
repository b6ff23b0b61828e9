/** Reads the files of a packaged chart, or of its packed folder, as Helm does, with Helm's checks of paths. */
import { posix } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { parseHelmIgnore } from "@flotilla/shared/source/chartbuild";
import { extract } from "tar-stream";
import { type BuildLimits, buildError, type ChartFiles, createFileCount } from "./chart-files.ts";

/** `what` is read, for messages. Throws CHART_BUILD. */
export async function readChartArchive(
  archive: Uint8Array,
  what: string,
  limits: BuildLimits,
): Promise<ChartFiles> {
  return await readTar(archive, {
    what,
    limits,
    form: "a packaged chart",
    isCompressed: true,
    pathOf: (name) => pathInArchive(name, what),
  });
}

/** `archive`: of tar, with the paths from the chart's folder. Without what .helmignore names. Throws CHART_BUILD. */
export async function readPackedFolder(
  archive: Uint8Array,
  what: string,
  limits: BuildLimits,
): Promise<ChartFiles> {
  const files = await readTar(archive, {
    what,
    limits,
    form: "a packed folder",
    isCompressed: false,
    pathOf: (name) => pathInArchive(`./${name}`, what),
  });
  const rules = parseHelmIgnore(files.get(".helmignore")?.toString() ?? "");
  const isIgnored = (path: string): boolean => {
    const names = path.split("/");
    return names.some((_, at) =>
      rules.ignores(names.slice(0, at + 1).join("/"), at + 1 < names.length),
    );
  };
  return new Map([...files].filter(([path]) => !isIgnored(path)));
}

interface TarReading {
  readonly what: string;
  readonly limits: BuildLimits;
  /** What the bytes should be, for messages. */
  readonly form: string;
  /** By gzip. */
  readonly isCompressed: boolean;
  readonly pathOf: (name: string) => string;
}

async function readTar(
  archive: Uint8Array,
  { what, limits, form, isCompressed, pathOf }: TarReading,
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
        const path = pathOf(name);
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

  const source = Readable.from([archive]);
  try {
    if (isCompressed) await pipeline(source, createGunzip(), counted, entries);
    else await pipeline(source, counted, entries);
  } catch (thrown) {
    throw failure ?? buildError(`${what}: it is not ${form}: ${messageOf(thrown)}`, thrown);
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
