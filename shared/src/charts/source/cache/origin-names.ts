/**
 * Names of origins in the names of cached files. An origin has the credentials of its access in it, so its name is an HMAC with a
 * key of this cache, which is beside the files: a digest alone would let anyone who sees it guess passwords.
 */
import { createHmac, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface OriginNames {
  /** 32 hexadecimal digits, the same for the same origin after a restart. */
  nameOf(origin: string): Promise<string>;
}

const keyFile = "origin-key";
const keyBytes = 32;
const nameLength = 32;

export function createOriginNames(dir: string): OriginNames {
  let known: Promise<Buffer> | undefined;
  return {
    async nameOf(origin) {
      known ??= keyOf(dir).catch((thrown: unknown) => {
        known = undefined;
        throw thrown;
      });
      return createHmac("sha256", await known)
        .update(origin)
        .digest("hex")
        .slice(0, nameLength);
    },
  };
}

/** Reads the key of a cache, or makes one; of two processes that make one at the same time, the first wins. */
async function keyOf(dir: string): Promise<Buffer> {
  const path = join(dir, keyFile);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const stored = await readFile(path).catch(() => undefined);
  if (stored?.length === keyBytes) return stored;
  const key = randomBytes(keyBytes);
  // A damaged key is replaced: the charts are downloaded again.
  await writeFile(path, key, { mode: 0o600, flag: stored === undefined ? "wx" : "w" }).catch(
    (thrown: unknown) => {
      if (!(thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")) throw thrown;
    },
  );
  return await readFile(path);
}
