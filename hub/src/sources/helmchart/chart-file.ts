/** Chart.yaml of a chart in a tree of files: a directory or a packaged chart. */

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { messageOf } from "@flotilla/shared/errors";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { parseVersion } from "@flotilla/shared/version";
import { extract } from "tar-stream";
import type { ReadChart } from "../../base/index.ts";
import { SourceError } from "../fluxsource/source-error.ts";

/** Flux's limit of a packaged chart. */
export const maxArchiveBytes = 10 * 1024 * 1024;
/** The limit of Chart.yaml and requirements.yaml: the files of real charts have a few KiB. */
export const maxChartFileBytes = 256 * 1024;

/** The limit of a packaged chart that is unpacked, up to its Chart.yaml. */
const maxUnpackedBytes = 64 * 1024 * 1024;

export interface ChartFile {
  readonly name: string;
  readonly version: string;
  /** The addresses of the repositories that it has dependencies from. */
  readonly repositories: readonly string[];
}

/** Throws a SourceError when it has no name or no version. `where`: of the chart, for messages. */
export async function readChartFile(
  readChart: ReadChart,
  texts: { readonly chart: string; readonly requirements?: string | undefined },
  where: string,
): Promise<ChartFile> {
  const { chart, requirements } = texts;
  const read = await readChart({ chart, ...(requirements !== undefined && { requirements }) });
  if ("problem" in read) throw invalidChart(where, read.problem);
  const { name, version, repositories } = read;
  if (name === undefined || !/^[a-zA-Z0-9._-]+$/.test(name))
    throw invalidChart(where, "its Chart.yaml has no valid name");
  if (version === undefined || parseVersion(version) === undefined)
    throw invalidChart(where, "its Chart.yaml has no valid version");
  return { name, version, repositories };
}

/**
 * Chart.yaml of a packaged chart, as text. It is unpacked piece by piece, up to that file, so that no more than the file is in
 * memory. Throws a SourceError when it has none.
 */
export async function chartFileOfArchive(bytes: Uint8Array, where: string): Promise<string> {
  let found: Buffer | undefined;
  const entries = extract();
  const unpacking = pipeline(
    // In pieces: one chunk of gunzip would be all that they unpack to.
    Readable.from(piecesOf(bytes)),
    createGunzip(),
    limited(where),
    entries,
  );
  // The loop below reports it.
  unpacking.catch(() => undefined);
  try {
    for await (const entry of entries) {
      if (/^(?:\.\/)?[^/]+\/Chart\.yaml$/.test(entry.header.name)) {
        found = await contentOf(entry, where);
        break;
      }
      entry.resume();
    }
  } catch (thrown) {
    if (thrown instanceof SourceError) throw thrown;
    throw invalidChart(where, `it is not a packaged chart (.tgz): ${messageOf(thrown)}`);
  } finally {
    entries.destroy();
    await unpacking.catch(() => undefined);
  }
  if (found === undefined) throw invalidChart(where, "it has no Chart.yaml");
  return found.toString();
}

const pieceBytes = 16 * 1024;

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

function limited(where: string) {
  return async function* (source: AsyncIterable<Buffer>) {
    let size = 0;
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maxUnpackedBytes)
        throw invalidChart(
          where,
          "its Chart.yaml is not within the first 64 MiB of what it unpacks to",
        );
      yield chunk;
    }
  };
}

async function contentOf(entry: AsyncIterable<unknown>, where: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of entry as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxChartFileBytes)
      throw invalidChart(where, `its Chart.yaml has more than ${maxChartFileBytes / 1024} KiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Nothing but another revision or another path can help. */
export function invalidChart(where: string, why: string): SourceError {
  return new SourceError(
    fluxReason.invalidChartReference,
    `the chart at ${where} cannot be used: ${why}`,
    {
      stalls: true,
    },
  );
}
