/** Files that are replaced as a whole: a reader sees the old content or the new content, never a part. */
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { z } from "zod";
import { localErrors } from "../errors.ts";

/** For files with secrets and state: only the owner may read them. */
export const privateMode = 0o600;

/** Writes a file by renaming a temporary file beside it. */
export async function replaceFile(
  path: string,
  text: string,
  options: { readonly mode?: number } = {},
): Promise<void> {
  const temporary = `${path}.new`;
  await writeFile(temporary, text, options);
  // The file of an interrupted write keeps its mode when it is written again.
  if (options.mode !== undefined) await chmod(temporary, options.mode);
  await rename(temporary, path);
}

/** The content of a JSON file; `undefined` when it does not exist. Throws STATE_UNREADABLE when it does not match. */
export async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw new AppError(localErrors.STATE_UNREADABLE, `read ${path}: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}

/** Replaces a JSON file; only its owner may read it. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value, undefined, 2)}\n`, { mode: privateMode });
}
