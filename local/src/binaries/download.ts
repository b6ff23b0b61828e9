/**
 * Downloads a program from its publisher and verifies the checksum that the publisher has beside it, before anything is
 * unpacked.
 */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { extract } from "tar-stream";
import { type Dispatcher, EnvHttpProxyAgent, interceptors, request } from "undici";
import type { LocalConfig } from "../config.ts";
import { localErrors } from "../errors.ts";
import type { Download } from "./tools.ts";

const connectTimeoutMs = 3_000;
const headersTimeoutMs = 10_000;
const idleTimeoutMs = 30_000;
const largestBytes = 1024 * 1024 * 1024;
const largestChecksumBytes = 1024 * 1024;

/** An HTTP client for publishers; close it after all downloads. */
export function downloadClient(proxy: LocalConfig["proxy"]): Dispatcher {
  return new EnvHttpProxyAgent({
    httpProxy: proxy.http ?? "",
    httpsProxy: proxy.https ?? "",
    noProxy: proxy.no ?? "",
    connect: { timeout: connectTimeoutMs },
    headersTimeout: headersTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  }).compose(interceptors.redirect({ maxRedirections: 5 }));
}

export interface DownloadOptions {
  readonly client: Dispatcher;
  readonly base: string;
  readonly onProgress: (receivedBytes: number, totalBytes: number | undefined) => void;
  readonly signal?: AbortSignal;
}

/** Writes the program to `output` and makes it executable. Throws BINARY_CHECKSUM or BINARY_UNAVAILABLE. */
export async function downloadProgram(
  download: Download,
  output: string,
  options: DownloadOptions,
): Promise<void> {
  const address = `${options.base}/${download.path}`;
  const expected = await publishedChecksum(download, options);
  const raw = download.member === undefined ? output : `${output}.tar.gz`;
  await mkdir(dirname(output), { recursive: true });
  const actual = await fetchToFile(address, raw, options);
  if (actual !== expected) {
    await rm(raw, { force: true });
    throw new AppError(
      localErrors.BINARY_CHECKSUM,
      `download ${address}: checksum mismatch: downloaded sha256:${actual}, ${options.base}/${download.checksumPath} has sha256:${expected}`,
    );
  }
  if (download.member !== undefined) {
    await extractMember(raw, download.member, output);
    await rm(raw, { force: true });
  }
  await chmod(output, 0o755);
}

/** Whether an error means that the publisher could not be reached, so that no response was received. */
export function isUnreachable(thrown: unknown): boolean {
  const codes =
    /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|UND_ERR_(CONNECT|HEADERS)_TIMEOUT/;
  for (let at: unknown = thrown; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string" && codes.test(at.code)) return true;
    if (at instanceof AggregateError && at.errors.some(isUnreachable)) return true;
  }
  return false;
}

async function publishedChecksum(download: Download, options: DownloadOptions): Promise<string> {
  const address = `${options.base}/${download.checksumPath}`;
  const answer = await get(address, options);
  let text = "";
  for await (const chunk of answer.body.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > largestChecksumBytes) break;
  }
  const checksum = parseChecksum(text, basename(download.path));
  if (checksum === undefined) {
    throw new AppError(
      localErrors.BINARY_CHECKSUM,
      `read ${address}: no sha256 of ${basename(download.path)} found`,
    );
  }
  return checksum;
}

async function fetchToFile(
  address: string,
  file: string,
  options: DownloadOptions,
): Promise<string> {
  const answer = await get(address, options);
  const length = Number(answer.headers["content-length"]);
  const total = Number.isFinite(length) ? length : undefined;
  const hash = createHash("sha256");
  let received = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      hash.update(chunk);
      options.onProgress(received, total);
      done(received > largestBytes ? new Error(`more than ${largestBytes} bytes`) : null, chunk);
    },
  });
  try {
    await pipeline(
      answer.body,
      meter,
      createWriteStream(file),
      options.signal === undefined ? {} : { signal: options.signal },
    );
  } catch (thrown) {
    await rm(file, { force: true });
    throw new AppError(
      localErrors.BINARY_UNAVAILABLE,
      `download ${address}: interrupted after ${received} bytes: ${messageOf(thrown)}`,
      {
        cause: thrown,
      },
    );
  }
  return hash.digest("hex");
}

async function get(address: string, options: DownloadOptions): Promise<Dispatcher.ResponseData> {
  let answer: Dispatcher.ResponseData;
  try {
    answer = await request(address, {
      dispatcher: options.client,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  } catch (thrown) {
    throw new AppError(
      localErrors.BINARY_UNAVAILABLE,
      `download ${address}: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
  if (answer.statusCode === 200) return answer;
  await answer.body.dump();
  throw new AppError(
    localErrors.BINARY_UNAVAILABLE,
    `download ${address}: HTTP status ${answer.statusCode}`,
  );
}

async function extractMember(archive: string, member: string, output: string): Promise<void> {
  const unpack = extract();
  let found = false;
  const reading = pipeline(createReadStream(archive), createGunzip(), unpack);
  // Awaited below; the handler avoids an unhandled rejection while the loop runs.
  reading.catch(() => undefined);
  for await (const entry of unpack) {
    if (
      !found &&
      entry.header.type === "file" &&
      entry.header.name.replace(/^\.\//, "") === member
    ) {
      found = true;
      await pipeline(entry, createWriteStream(output));
    } else {
      entry.resume();
    }
  }
  await reading;
  if (!found)
    throw new AppError(
      localErrors.BINARY_UNAVAILABLE,
      `unpack ${basename(archive)}: it has no ${member}`,
    );
}

/**
 * The sha256 of `fileName` in a checksum file: either the digest alone (dl.k8s.io, distribution) or lines of
 * `digest  name` (Helm, etcd). `undefined` when the file has no digest for it.
 */
export function parseChecksum(text: string, fileName: string): string | undefined {
  const lines = text
    .replaceAll("\0", "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  for (const line of lines) {
    const [digest, name] = line.split(/\s+\*?/, 2);
    if (digest === undefined || !/^[0-9a-f]{64}$/i.test(digest)) continue;
    const hasName = name !== undefined && name !== "" && name !== "-";
    if (hasName ? name.split("/").at(-1) === fileName : lines.length === 1)
      return digest.toLowerCase();
  }
  return undefined;
}
