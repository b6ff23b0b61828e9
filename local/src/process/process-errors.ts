/** Tells a full disk from other failures: it is the one that a person can do something about at once. */
import { open } from "node:fs/promises";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { localErrors } from "../errors.ts";

const pattern = /ENOSPC|EDQUOT|no space left on device|disk quota exceeded/i;

/**
 * The error for a full disk, when the thrown value or the text speaks of one; with the line that does, which has the
 * path, and what space is needed.
 */
export function diskFullError(thrown: unknown, doing: string, needs: string): AppError | undefined {
  if (thrown instanceof AppError && thrown.code === localErrors.DISK_FULL.code) return thrown;
  const line = messageOf(thrown)
    .split("\n")
    .find((one) => pattern.test(one));
  if (line === undefined) return undefined;
  return new AppError(
    localErrors.DISK_FULL,
    `${doing}: the disk is full (${line.trim()}); ${needs}`,
  );
}

/** The end of a log file, for the message of an error. */

const tailBytes = 16 * 1024;

/** The last lines of a file; empty when it cannot be read. */
export async function logTail(path: string, lines = 12): Promise<string> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return "";
  try {
    const { size } = await file.stat();
    const length = Math.min(size, tailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8", 0, bytesRead).trimEnd().split("\n").slice(-lines).join("\n");
  } finally {
    await file.close();
  }
}
