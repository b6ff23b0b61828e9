/** JSON files of ours: read through a schema, written whole or not at all. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { z } from "zod";
import { localErrors } from "../errors.ts";

/** What the file holds; `undefined` when there is none. */
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

/** Readers see the old content or the new one; only this user may read it. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
