/** Tells a full disk from other failures: it is the one that a person can do something about at once. */
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
