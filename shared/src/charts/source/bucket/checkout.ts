/** Writes the objects of a bucket to a directory. */
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open as openFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../../../runtime/errors/index.ts";
import { abandon, type Exchange } from "../transport/index.ts";
import { bucketErrors } from "./errors.ts";
import type { BucketObject } from "./listing.ts";
import { passRaw } from "./read-raw.ts";

export interface WriteOptions {
  readonly concurrency: number;
  readonly open: (object: BucketObject, signal: AbortSignal) => Promise<Exchange>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes each object to its path below `dir`, several at a time. The first failure ends the others. Resolves with the digest over all
 * paths and the bytes that were received, which no server can choose.
 */
export async function writeObjects(
  paths: ReadonlyMap<string, BucketObject>,
  dir: string,
  { concurrency, open, signal }: WriteOptions,
): Promise<string> {
  const ending = new AbortController();
  const either = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
  const left = paths.entries();
  const digests = new Map<string, string>();
  let first: { readonly thrown: unknown } | undefined;

  async function work(): Promise<void> {
    for (const [path, object] of left) {
      if (first !== undefined) return;
      try {
        digests.set(path, await write(join(dir, path), object, await open(object, either)));
      } catch (thrown) {
        first ??= { thrown };
        ending.abort(new Error("another object could not be read"));
        return;
      }
    }
  }

  await Promise.all(Array.from({ length: concurrency }, work));
  if (first !== undefined) throw first.thrown;
  const hash = createHash("sha256");
  for (const path of [...digests.keys()].sort())
    hash.update(`${JSON.stringify(path)} ${digests.get(path)}\n`);
  return `sha256:${hash.digest("hex")}`;
}

/** Resolves with the digest of its bytes. */
async function write(file: string, object: BucketObject, response: Exchange): Promise<string> {
  let handle: FileHandle | undefined;
  try {
    await mkdir(dirname(file), { recursive: true });
    // Never through a link, and never over a file.
    handle = await openFile(file, "wx", 0o600);
  } catch (thrown) {
    abandon(response.body);
    throw thrown;
  }
  try {
    let size = 0;
    const hash = createHash("sha256");
    const limit = { maxBytes: object.sizeBytes, tooLarge: bucketErrors.BUCKET_CHANGED };
    await passRaw(response, limit, async (chunk) => {
      size += chunk.length;
      hash.update(chunk);
      await handle.writeFile(chunk);
    });
    if (size !== object.sizeBytes)
      throw new AppError(
        bucketErrors.BUCKET_CHANGED,
        `${response.request}: the object has ${size} bytes, the list of the bucket says ${object.sizeBytes}`,
      );
    return hash.digest("hex");
  } finally {
    await handle.close();
  }
}
