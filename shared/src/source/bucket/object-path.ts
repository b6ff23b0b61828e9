/** The path of an object in a directory, from its key. Pure. */
import { AppError } from "../../errors/index.ts";
import { bucketErrors } from "./errors.ts";
import type { BucketObject } from "./listing.ts";

/** Objects by path. Throws BUCKET_KEY_INVALID for a key that is no path below the root, and for two keys of one path. */
export function objectPaths(objects: readonly BucketObject[]): ReadonlyMap<string, BucketObject> {
  const paths = new Map<string, BucketObject>();
  const directories = new Set<string>();
  for (const object of objects) {
    const path = pathOf(object.key);
    const other = paths.get(path);
    if (other !== undefined || directories.has(path))
      throw invalid(object.key, "another key needs the same path");
    paths.set(path, object);
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
      const directory = path.slice(0, at);
      if (paths.has(directory)) throw invalid(object.key, "another key needs the same path");
      directories.add(directory);
    }
  }
  return paths;
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
  const shown = JSON.stringify(key.length > 200 ? `${key.slice(0, 200)}…` : key);
  return new AppError(
    bucketErrors.BUCKET_KEY_INVALID,
    `the key ${shown} is no path of a file: ${why}; rename the object, or ignore it by spec.ignore`,
  );
}
