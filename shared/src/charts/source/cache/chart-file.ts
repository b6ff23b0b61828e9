/** Archives on disk: written to a temporary file while they arrive, and renamed to their digest once they are complete. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { AppError } from "../../../runtime/errors/index.ts";
import {
  chartErrors,
  describePin,
  type FetchedArchive,
  type Pin,
  type WriteChunk,
} from "../index.ts";

export interface ChartFile extends FetchedArchive {
  readonly path: string;
}

export interface ChartFileTarget {
  /** The temporary file. */
  readonly partPath: string;
  /** The final path of a digest. */
  readonly pathOf: (digest: string) => string;
}

/** Writes what `fetch` passes on. After a failure, of the disk or of `fetch`, no file is left. */
export async function writeChartFile(
  pin: Pin,
  { partPath, pathOf }: ChartFileTarget,
  fetch: (write: WriteChunk) => Promise<FetchedArchive>,
): Promise<ChartFile> {
  const onDisk = <T>(work: Promise<T>): Promise<T> =>
    work.catch((thrown: unknown) => {
      throw diskError(thrown, pin);
    });
  try {
    const file = await onDisk(open(partPath, "w", 0o600));
    let fetched: FetchedArchive;
    try {
      fetched = await fetch(async (chunk) => {
        for (let at = 0; at < chunk.length; )
          at += (await onDisk(file.write(chunk, at))).bytesWritten;
      });
    } finally {
      await onDisk(file.close());
    }
    const path = pathOf(fetched.digest);
    await onDisk(rename(partPath, path));
    return { path, ...fetched };
  } catch (thrown) {
    await rm(partPath, { force: true });
    throw thrown;
  }
}

/** The digest of a file; undefined when it does not exist or cannot be read. */
export async function digestOfFile(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk);
  } catch {
    // The chart is downloaded again; when the disk is the reason, writing it reports that.
    return undefined;
  }
  return `sha256:${hash.digest("hex")}`;
}

export function diskError(thrown: unknown, pin: Pin): AppError {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown";
  const why =
    code === "ENOSPC" || code === "EDQUOT"
      ? "the disk is full"
      : `cannot write to the cache (${code})`;
  return new AppError(chartErrors.CHART_CACHE, `cache chart ${describePin(pin)}: ${why}`, {
    cause: thrown,
  });
}
