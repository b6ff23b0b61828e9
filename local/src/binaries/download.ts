/**
 * Downloads a program from its publisher and checks it against the checksum that the publisher states beside it. The
 * bytes are checked before anything is unpacked from them.
 */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { extract } from "tar-stream";
import { type Dispatcher, EnvHttpProxyAgent, interceptors, request } from "undici";
import type { LocalConfig } from "../config.ts";
import { localErrors } from "../errors.ts";
import type { Download } from "./tools.ts";

const connectTimeoutMs = 3_000;
const answerTimeoutMs = 10_000;
const idleTimeoutMs = 30_000;
const largestBytes = 1024 * 1024 * 1024;
const largestChecksumBytes = 1024 * 1024;

/** A client for publishers; `close` it when all downloads are over. */
export function downloadClient(proxy: LocalConfig["proxy"]): Dispatcher {
  return new EnvHttpProxyAgent({
    httpProxy: proxy.http ?? "",
    httpsProxy: proxy.https ?? "",
    noProxy: proxy.no ?? "",
    connect: { timeout: connectTimeoutMs },
    headersTimeout: answerTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  }).compose(interceptors.redirect({ maxRedirections: 5 }));
}

export interface DownloadOptions {
  readonly client: Dispatcher;
  readonly base: string;
  readonly onProgress: (receivedBytes: number, totalBytes: number | undefined) => void;
  readonly signal?: AbortSignal;
}

/** Puts the program at `output`, executable. Throws when a byte differs from what the publisher says. */
export async function downloadProgram(
  download: Download,
  output: string,
  options: DownloadOptions,
): Promise<void> {
  const address = `${options.base}/${download.path}`;
  const stated = await statedChecksum(download, options);
  const raw = download.member === undefined ? output : `${output}.tar.gz`;
  await mkdir(dirname(output), { recursive: true });
  const actual = await fetchToFile(address, raw, options);
  if (actual !== stated) {
    await rm(raw, { force: true });
    throw new AppError(
      localErrors.BINARY_CHECKSUM,
      `download ${address}: its sha256 is ${actual}, but ${options.base}/${download.checksumPath} says ${stated}`,
    );
  }
  if (download.member !== undefined) {
    await extractMember(raw, download.member, output);
    await rm(raw, { force: true });
  }
  await chmod(output, 0o755);
}

/** Whether the publisher could not be reached at all, as opposed to an answer that is no use. */
export function isUnreachable(thrown: unknown): boolean {
  const codes =
    /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|UND_ERR_(CONNECT|HEADERS)_TIMEOUT/;
  for (let at: unknown = thrown; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string" && codes.test(at.code)) return true;
    if (at instanceof AggregateError && at.errors.some(isUnreachable)) return true;
  }
  return false;
}

async function statedChecksum(download: Download, options: DownloadOptions): Promise<string> {
  const address = `${options.base}/${download.checksumPath}`;
  const answer = await get(address, options);
  let text = "";
  for await (const chunk of answer.body.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > largestChecksumBytes) break;
  }
  const stated = parseChecksum(text, basename(download.path));
  if (stated === undefined) {
    throw new AppError(
      localErrors.BINARY_CHECKSUM,
      `read ${address}: it states no sha256 of ${basename(download.path)}`,
    );
  }
  return stated;
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
      `download ${address}: ended after ${received} bytes: ${messageOf(thrown)}`,
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
    `download ${address}: the server answered ${answer.statusCode}`,
  );
}

async function extractMember(archive: string, member: string, output: string): Promise<void> {
  const unpack = extract();
  let found = false;
  const reading = pipeline(createReadStream(archive), createGunzip(), unpack);
  // Awaited below; the loop ends early when it fails, and must not leave the rejection unheard meanwhile.
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
      `unpack ${basename(archive)}: there is no ${member} in it`,
    );
}

/** Reads the files in which publishers state checksums. */

/**
 * The sha256 of `fileName` in a checksum file: either the digest alone (dl.k8s.io, distribution) or lines of
 * `digest  name` (Helm, etcd). `undefined` when the file says nothing about it.
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
    const named = name !== undefined && name !== "" && name !== "-";
    if (named ? name.split("/").at(-1) === fileName : lines.length === 1)
      return digest.toLowerCase();
  }
  return undefined;
}
