/** Bodies of answers, read whole under a limit. */
import { createHash, type Hash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { AppError, type ErrorKind } from "../errors/app-error.ts";
import type { Exchange } from "./exchange.ts";

export interface ReadBody {
  /** In an ArrayBuffer of its own, so that it can be handed to another thread. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the bytes as they are here, `sha256:` and hex. */
  readonly digest: string;
}

const firstRoom = 16 * 1024;

/** The body, unpacked where the server packed it; more than `maxBytes` is an error of the kind `tooLarge`. */
export async function readBody(
  answer: Exchange,
  limit: { readonly maxBytes: number; readonly tooLarge: ErrorKind },
): Promise<ReadBody> {
  const sink = createSink(answer, limit);
  const encoding = answer.header("content-encoding")?.trim().toLowerCase() ?? "identity";
  try {
    if (encoding === "gzip" || encoding === "x-gzip")
      await pipeline(answer.body, createGunzip(), sink.take);
    else if (encoding === "identity" || encoding === "") await pipeline(answer.body, sink.take);
    else
      throw new AppError(
        limit.tooLarge,
        `${answer.asked}: answered in the encoding ${encoding}, which was not asked for`,
      );
  } catch (thrown) {
    answer.body.destroy();
    throw answer.broken(thrown);
  }
  return sink.result();
}

function createSink(
  answer: Exchange,
  limit: { readonly maxBytes: number; readonly tooLarge: ErrorKind },
) {
  const hash: Hash = createHash("sha256");
  const refuse = (): never => {
    throw new AppError(
      limit.tooLarge,
      `${answer.asked}: the answer is larger than ${describeBytes(limit.maxBytes)}`,
    );
  };
  let bytes = new Uint8Array(firstRoom);
  let size = 0;
  return {
    async take(source: AsyncIterable<Buffer>): Promise<void> {
      const announced = Number(answer.header("content-length") ?? 0);
      if (announced > limit.maxBytes) refuse();
      // What is announced fits at once; a large answer is in memory only once then.
      if (announced > firstRoom) bytes = new Uint8Array(announced);
      for await (const chunk of source) {
        if (size + chunk.length > limit.maxBytes) refuse();
        if (size + chunk.length > bytes.length) bytes = grown(bytes, size + chunk.length);
        bytes.set(chunk, size);
        size += chunk.length;
        hash.update(chunk);
      }
    },
    result: (): ReadBody => ({
      bytes: size === bytes.length ? bytes : bytes.slice(0, size),
      digest: `sha256:${hash.digest("hex")}`,
    }),
  };
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
