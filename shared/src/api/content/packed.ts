/**
 * Content-addressed data: stored, sent and compared by digest. The digest is over the canonical JSON before compression, so it
 * does not depend on the compressor.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import * as z from "zod";
import { messageOf } from "../../runtime/errors/index.ts";
import { canonicalJson, parseExact } from "../../text/json/index.ts";

const zip = promisify(gzip);
const unzip = promisify(gunzip);

export interface Packed {
  /** `sha256:` and the hex digest of the canonical JSON. */
  readonly digest: string;
  /** gzip of the canonical JSON. */
  readonly bytes: Uint8Array;
}

/** What is wrong with packed data; the caller adds what the data is. */
export class PackedProblem extends Error {
  override readonly name = "PackedProblem";
}

/** Packs a value; `checkSize` may reject a size in bytes by throwing. */
export async function pack(value: unknown, checkSize: (bytes: number) => void): Promise<Packed> {
  const json = Buffer.from(canonicalJson(value));
  checkSize(json.length);
  return { digest: digestOf(json), bytes: await zip(json, { level: 6 }) };
}

/** The digest of `pack`, without compressing. */
export function packedDigest(value: unknown): string {
  return digestOf(Buffer.from(canonicalJson(value)));
}

/** Unpacks a value and checks its digest and shape. Throws a PackedProblem. */
export async function unpack<T>(
  { digest, bytes }: Packed,
  schema: z.ZodType<T>,
  maxBytes: number,
): Promise<T> {
  const json = await problemIn("it cannot be decompressed", () =>
    unzip(bytes, { maxOutputLength: maxBytes }),
  );
  const actual = digestOf(json);
  if (actual !== digest) throw new PackedProblem(`digest mismatch: the bytes have ${actual}`);
  const value = await problemIn("it is not JSON", () => parseExact(json.toString()));
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    throw new PackedProblem(z.prettifyError(parsed.error), { cause: parsed.error });
  return parsed.data;
}

async function problemIn<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw new PackedProblem(`${what}: ${messageOf(thrown)}`, { cause: thrown });
  }
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** The size of one part. The limit of a Secret is 1 MiB. */
export const partBytes = 900 * 1024;

/** The number of parts: at least one, also for an empty content. */
export function partCount(content: Uint8Array): number {
  return Math.max(1, Math.ceil(content.length / partBytes));
}

/** The parts in order; concatenated they are the content. */
export function contentParts(content: Uint8Array): readonly Uint8Array[] {
  return Array.from({ length: partCount(content) }, (_, part) =>
    content.subarray(part * partBytes, (part + 1) * partBytes),
  );
}
