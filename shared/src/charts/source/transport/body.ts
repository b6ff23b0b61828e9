/** Reads the bodies of responses, up to a limit. */
import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { nextIteration } from "../../../runtime/concurrency/index.ts";
import { AppError, type ErrorKind } from "../../../runtime/errors/index.ts";
import { abandon, type Exchange } from "./exchange.ts";

export interface ReadBody {
  /** In an ArrayBuffer of its own, so that it can be transferred to another thread. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The digest of the decompressed bytes, `sha256:` and hex. */
  readonly digest: string;
}

const initialBytes = 16 * 1024;

/** A limit of bytes, and the kind of the error beyond it. */
export interface BodyLimit {
  readonly maxBytes: number;
  readonly tooLarge: ErrorKind;
}

/** What is smaller takes no time to decode. */
const largeBytes = 64 * 1024;

/** To be awaited before a body of this size is decoded: its server can make that slow. */
export async function beforeDecoding(sizeBytes: number): Promise<void> {
  if (sizeBytes > largeBytes) await nextIteration();
}

/** The body, decompressed. A large one may be decoded in this iteration of the event loop. */
export async function readBody(response: Exchange, limit: BodyLimit): Promise<ReadBody> {
  // Allocated for the announced size, so that a large body is in memory only once.
  const announced = Math.min(announcedBytes(response), limit.maxBytes);
  let bytes = new Uint8Array(Math.max(initialBytes, announced));
  let size = 0;
  const { digest } = await passBody(response, limit, (chunk) => {
    if (size + chunk.length > bytes.length) bytes = grown(bytes, size + chunk.length);
    bytes.set(chunk, size);
    size += chunk.length;
  });
  await beforeDecoding(size);
  return { bytes: size === bytes.length ? bytes : bytes.slice(0, size), digest };
}

/**
 * Passes the body on while it arrives, decompressed. A body whose announced size exceeds the limit is not read. An AppError of
 * `take` is thrown unchanged.
 */
export async function passBody(
  response: Exchange,
  limit: BodyLimit,
  take: (chunk: Buffer) => void | Promise<void>,
): Promise<{ readonly digest: string; readonly sizeBytes: number }> {
  const hash = createHash("sha256");
  let size = 0;
  const reject = (): never => {
    throw new AppError(
      limit.tooLarge,
      `${response.request}: the response is larger than ${describeBytes(limit.maxBytes)}`,
    );
  };
  async function takeAll(source: AsyncIterable<Buffer>): Promise<void> {
    if (announcedBytes(response) > limit.maxBytes) reject();
    for await (const chunk of source) {
      size += chunk.length;
      if (size > limit.maxBytes) reject();
      hash.update(chunk);
      await take(chunk);
    }
  }
  try {
    const encoding = encodingOf(response);
    if (encoding === "gzip") await pipeline(response.body, createGunzip(), takeAll);
    else if (encoding === "identity") await pipeline(response.body, takeAll);
    else throw unexpectedEncoding(encoding);
  } catch (thrown) {
    abandon(response.body);
    throw response.failure(thrown);
  }
  return { digest: `sha256:${hash.digest("hex")}`, sizeBytes: size };
}

/** The encoding of the body: `identity`, `gzip`, or another one that no request accepts. */
export function encodingOf(response: Exchange): string {
  const encoding = response.header("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "") return "identity";
  return encoding === "x-gzip" ? "gzip" : encoding;
}

/** For `Exchange.failure`. */
export function unexpectedEncoding(encoding: string): Error {
  return new Error(`the response has the encoding ${encoding}, which the request does not accept`);
}

function announcedBytes(response: Exchange): number {
  return Number(response.header("content-length") ?? 0);
}

function grown(bytes: Uint8Array<ArrayBuffer>, atLeast: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(atLeast, bytes.length * 2));
  larger.set(bytes);
  return larger;
}

/** A size for people, such as `1.5 MiB`. */
export function describeBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Math.round(value * 10) / 10} ${units[unit] ?? ""}`;
}
