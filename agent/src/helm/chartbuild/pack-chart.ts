/** Packs a chart; equal files have equal bytes, no matter who packs them and when. */
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { describeBytes } from "@flotilla/shared/source/transport";
import { pack } from "tar-stream";
import { buildError, type ChartFiles } from "./chart-files.ts";

/** `name`: of the chart; `origin`: what it is made from, for messages. Throws CHART_BUILD if the archive has more than `maxBytes`. */
export async function packChart(
  files: ChartFiles,
  {
    name,
    origin,
    target,
    maxBytes,
  }: {
    readonly name: string;
    readonly origin: string;
    readonly target: string;
    readonly maxBytes: number;
  },
): Promise<void> {
  const tar = pack();
  const writing = pipeline(tar, createGzip(), limited, createWriteStream(target, { mode: 0o600 }));
  const adding = add().catch((thrown: unknown) => {
    tar.destroy();
    throw thrown;
  });
  await Promise.all([writing, adding]);

  async function add(): Promise<void> {
    const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
    // Helm 3 expects Chart.yaml first, and so do tools that read nothing else.
    for (const [path, bytes] of sorted.sort(([a], [b]) => rank(a) - rank(b)))
      await new Promise<void>((resolve, reject) => {
        const header = { name: `${name}/${path}`, mtime: new Date(0), mode: 0o644 };
        tar.entry(header, bytes, (error) => (error == null ? resolve() : reject(error)));
      });
    tar.finalize();
  }

  async function* limited(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw buildError(`${origin}: the packaged chart has more than ${describeBytes(maxBytes)}`);
      yield chunk;
    }
  }
}

function rank(path: string): number {
  return path === "Chart.yaml" ? 0 : 1;
}
