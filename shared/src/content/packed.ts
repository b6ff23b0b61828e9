/**
 * Something that is named by what is in it: stored, sent and compared by digest. The digest is taken over canonical JSON
 * before compression, so that it is the same whoever compresses.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { z } from "zod";
import { messageOf } from "../errors/app-error.ts";
import { canonicalJson, parseExact } from "../json/exact.ts";

const zip = promisify(gzip);
const unzip = promisify(gunzip);

export interface Packed {
  /** `sha256:` and the hex digest of the canonical JSON. */
  readonly digest: string;
  /** gzip of the canonical JSON. */
  readonly bytes: Uint8Array;
}

/** What is wrong with something packed, as the end of a sentence that says what it is. */
export class PackedProblem extends Error {
  override readonly name = "PackedProblem";
}

/** Packs it; `sizeProblem` may refuse a size in bytes by throwing. */
export async function pack(value: unknown, sizeProblem: (bytes: number) => void): Promise<Packed> {
  const json = Buffer.from(canonicalJson(value));
  sizeProblem(json.length);
  return { digest: digestOf(json), bytes: await zip(json, { level: 6 }) };
}

/** What `pack` would name it by, without packing it. */
export function packedDigest(value: unknown): string {
  return digestOf(Buffer.from(canonicalJson(value)));
}

/** Opens it, checking its digest and its shape. Throws a PackedProblem. */
export async function unpack<T>(
  { digest, bytes }: Packed,
  schema: z.ZodType<T>,
  maxBytes: number,
): Promise<T> {
  const json = await problemIn("it does not decompress", () =>
    unzip(bytes, { maxOutputLength: maxBytes }),
  );
  const actual = digestOf(json);
  if (actual !== digest) throw new PackedProblem(`its bytes have the digest ${actual}`);
  const value = await problemIn("it is no JSON", () => parseExact(json.toString()));
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

/** Bytes of one part. A Secret holds 1 MiB with everything in it. */
export const partBytes = 900 * 1024;

/** In how many parts a content lies: at least one, also when it is empty. */
export function partCount(content: Uint8Array): number {
  return Math.max(1, Math.ceil(content.length / partBytes));
}

/** In order; put one after the other they are the content again. */
export function contentParts(content: Uint8Array): readonly Uint8Array[] {
  return Array.from({ length: partCount(content) }, (_, part) =>
    content.subarray(part * partBytes, (part + 1) * partBytes),
  );
}
