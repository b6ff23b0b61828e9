/** The path of an object in a directory, from its key. Pure. */
import { AppError } from "../../../runtime/errors/index.ts";
import { bucketErrors } from "./errors.ts";
import type { BucketObject } from "./listing.ts";

/** The limit of S3, in bytes. */
const longestKey = 1_024;

/** Throws BUCKET_KEY_INVALID for a key that is longer than S3's own limit. */
export function checkKeyLength({ key }: BucketObject): void {
  const sizeBytes = Buffer.byteLength(key);
  if (sizeBytes > longestKey)
    throw new AppError(
      bucketErrors.BUCKET_KEY_INVALID,
      `the key ${shown(key)} has ${sizeBytes} bytes, more than the ${longestKey} that S3 allows: rename the object, or set spec.prefix to a part of the bucket without it`,
    );
}

/** Objects by path. Throws BUCKET_KEY_INVALID for a key that is not a path below the root, and for two keys of one path. */
export function objectPaths(objects: readonly BucketObject[]): ReadonlyMap<string, BucketObject> {
  const paths = new Map<string, BucketObject>();
  for (const object of objects) {
    const path = pathOf(object.key);
    if (paths.has(path)) throw invalid(object.key, "another key needs the same path");
    paths.set(path, object);
  }
  checkDirectories(paths);
  return paths;
}

/** Throws for a path that is a directory of another one. With the slash as the first of all characters it is beside it in order. */
function checkDirectories(paths: ReadonlyMap<string, BucketObject>): void {
  const sorted = [...paths.keys()].map((path) => path.replaceAll("/", "\0")).sort();
  for (const [at, path] of sorted.entries()) {
    const below = sorted[at + 1];
    if (below?.startsWith(`${path}\0`) !== true) continue;
    const { key = "" } = paths.get(below.replaceAll("\0", "/")) ?? {};
    throw invalid(key, "another key needs the same path");
  }
}

/** Two slashes count as one, as in Flux. */
function pathOf(key: string): string {
  const names = key.split("/").filter((name) => name !== "");
  if (names.length === 0 || names.some((name) => name === "." || name === ".."))
    throw invalid(key, "it climbs out of the bucket, or has no name");
  if (key.includes("\0")) throw invalid(key, "it has a NUL character");
  if (names.some((name) => Buffer.byteLength(name) > 255)) throw invalid(key, "a name is too long");
  return names.join("/");
}

function invalid(key: string, why: string): AppError {
  return new AppError(
    bucketErrors.BUCKET_KEY_INVALID,
    `the key ${shown(key)} is not a path of a file: ${why}; rename the object, or ignore it by spec.ignore`,
  );
}

function shown(key: string): string {
  return JSON.stringify(key.length > 200 ? `${key.slice(0, 200)}…` : key);
}
