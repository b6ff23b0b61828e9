/** Bodies of answers, read whole under a limit. */
import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { AppError, type ErrorKind } from "../../errors/app-error.ts";
import type { Exchange } from "./exchange.ts";

export interface ReadBody {
  /** In an ArrayBuffer of its own, so that it can be handed to another thread. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the bytes as they are here, `sha256:` and hex. */
  readonly digest: string;
}

const firstRoom = 16 * 1024;

/** A limit of bytes, and what more than that is called. */
export interface BodyLimit {
  readonly maxBytes: number;
  readonly tooLarge: ErrorKind;
}

/** The body, unpacked where the server packed it; more than `maxBytes` is an error of the kind `tooLarge`. */
export async function readBody(response: Exchange, limit: BodyLimit): Promise<ReadBody> {
  // What is announced fits at once; a large response is in memory only once then.
  const announced = Math.min(announcedBytes(response), limit.maxBytes);
  let bytes = new Uint8Array(Math.max(firstRoom, announced));
  let size = 0;
  const { digest } = await passBody(response, limit, (chunk) => {
    if (size + chunk.length > bytes.length) bytes = grown(bytes, size + chunk.length);
    bytes.set(chunk, size);
    size += chunk.length;
  });
  return { bytes: size === bytes.length ? bytes : bytes.slice(0, size), digest };
}

/**
 * Passes the body on while it arrives, unpacked; what announces itself as larger than `maxBytes` is not read at all. An
 * AppError of `take` is thrown as it is.
 */
export async function passBody(
  response: Exchange,
  limit: BodyLimit,
  take: (chunk: Buffer) => void | Promise<void>,
): Promise<{ readonly digest: string }> {
  const hash = createHash("sha256");
  let size = 0;
  const refuse = (): never => {
    throw new AppError(
      limit.tooLarge,
      `${response.request}: the response is larger than ${describeBytes(limit.maxBytes)}`,
    );
  };
  async function takeAll(source: AsyncIterable<Buffer>): Promise<void> {
    if (announcedBytes(response) > limit.maxBytes) refuse();
    for await (const chunk of source) {
      size += chunk.length;
      if (size > limit.maxBytes) refuse();
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
    response.body.destroy();
    throw response.failure(thrown);
  }
  return { digest: `sha256:${hash.digest("hex")}` };
}

/** How the body is packed: `identity`, `gzip`, or another, which nothing here asks for. */
export function encodingOf(response: Exchange): string {
  const encoding = response.header("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "") return "identity";
  return encoding === "x-gzip" ? "gzip" : encoding;
}

/** For `Exchange.broken`. */
export function unexpectedEncoding(encoding: string): Error {
  return new Error(`answered in the encoding ${encoding}, which was not asked for`);
}

function announcedBytes(response: Exchange): number {
  return Number(response.header("content-length") ?? 0);
}

function grown(bytes: Uint8Array<ArrayBuffer>, atLeast: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(atLeast, bytes.length * 2));
  larger.set(bytes);
  return larger;
}

/** A size as people say it. */
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
