/** Writes an archive to disk while it arrives, and lets it have its name only when it is what it has to be. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { AppError } from "../../errors/app-error.ts";
import { describeBytes } from "../transport/body.ts";
import { chartErrors } from "../errors.ts";
import type { Exchange } from "../transport/exchange.ts";
import { archiveDigest, describePin, type Pin } from "../pin.ts";

export interface ChartFile {
  readonly path: string;
  /** Of the archive, `sha256:` and hex. */
  readonly digest: string;
  readonly sizeBytes: number;
}

export interface ChartFileTarget {
  /** Where the bytes are while they arrive. */
  readonly partPath: string;
  /** Where they belong once their digest is known. */
  readonly pathOf: (digest: string) => string;
  readonly maxBytes: number;
}

const gzipMagic = [0x1f, 0x8b];

/** The archive of `pin` from `answer`, whole and checked; after a failure nothing of it is left. */
export async function writeChartFile(
  answer: Exchange,
  pin: Pin,
  target: ChartFileTarget,
): Promise<ChartFile> {
  try {
    const received = await receive(answer, pin, target);
    const path = target.pathOf(received.digest);
    await rename(target.partPath, path);
    return { path, ...received };
  } catch (thrown) {
    answer.body.destroy();
    await rm(target.partPath, { force: true });
    throw isDiskFailure(thrown) ? diskFailure(thrown, pin) : answer.broken(thrown);
  }
}

/** The digest of a file; undefined when it is not there or cannot be read. */
export async function digestOfFile(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk);
  } catch {
    // Whatever keeps it from being read, it has to be fetched again; writing it anew says what is wrong.
    return undefined;
  }
  return `sha256:${hash.digest("hex")}`;
}

/** A failure of the disk as one sentence; what the network says is not one. */
export function diskFailure(thrown: unknown, pin: Pin): AppError {
  const code = codeOf(thrown);
  const why =
    code === "ENOSPC" || code === "EDQUOT"
      ? "the disk is full"
      : `the cache cannot be written (${code ?? "unknown"})`;
  return new AppError(
    chartErrors.CHART_CACHE,
    `chart ${describePin(pin)} could not be kept: ${why}`,
    { cause: thrown },
  );
}

async function receive(answer: Exchange, pin: Pin, target: ChartFileTarget) {
  const expected = archiveDigest(pin);
  const limit =
    pin.kind === "oci" ? Math.min(pin.layerSizeBytes, target.maxBytes) : target.maxBytes;
  const hash = createHash("sha256");
  let sizeBytes = 0;
  let head: readonly number[] = [];

  const file = await open(target.partPath, "w", 0o600);
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > limit) throw tooLong(answer, pin, limit);
      if (head.length < 2) head = [...head, ...chunk.subarray(0, 2)].slice(0, 2);
      hash.update(chunk);
      await writeAll(file, chunk);
    }
  } finally {
    await file.close();
  }

  const digest = `sha256:${hash.digest("hex")}`;
  // First, because the page of a login or a proxy is not a chart that was published again.
  if (!gzipMagic.every((byte, at) => head[at] === byte)) {
    throw new AppError(
      chartErrors.CHART_DOWNLOAD,
      `${answer.asked}: what came is not a packed chart (.tgz), ${describeBytes(sizeBytes)}; it was not kept`,
    );
  }
  if (expected !== undefined && digest !== expected) {
    throw new AppError(
      chartErrors.CHART_DIGEST_MISMATCH,
      `${answer.asked}: what came is ${digest} (${describeBytes(sizeBytes)}), but ${toldBy(pin)} says ${expected}; it was not kept${remedy(pin)}`,
    );
  }
  return { digest, sizeBytes };
}

/** Who said which digest the archive has. */
function toldBy(pin: Pin): string {
  return pin.kind === "oci" ? "the manifest" : "the index of the repository";
}

function remedy(pin: Pin): string {
  return pin.kind === "oci" ? "" : ": correct the index, or publish the chart anew";
}

function tooLong(answer: Exchange, pin: Pin, limit: number): AppError {
  if (pin.kind === "oci" && limit === pin.layerSizeBytes) {
    return new AppError(
      chartErrors.CHART_DIGEST_MISMATCH,
      `${answer.asked}: the chart has to have ${limit} bytes, but more came; it was not kept`,
    );
  }
  return new AppError(
    chartErrors.CHART_DOWNLOAD,
    `${answer.asked}: the chart is larger than ${describeBytes(limit)}`,
  );
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
}

/** Told apart by the system call: those of files are not those of sockets, but for `write`. */
function isDiskFailure(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || !("syscall" in thrown)) return false;
  if (thrown.syscall === "write")
    return ["ENOSPC", "EDQUOT", "EIO", "EFBIG"].includes(codeOf(thrown) ?? "");
  return ["open", "close", "rename", "mkdir"].includes(String(thrown.syscall));
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string"
    ? thrown.code
    : undefined;
}
