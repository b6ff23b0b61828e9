/** Errors of processes: an unexpected exit with the end of the log, and a full disk, which the user can fix. */
import { open } from "node:fs/promises";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { localErrors } from "../errors.ts";
import type { RunningProcess } from "./start-process.ts";

const tailBytes = 16 * 1024;
const diskFullPattern = /ENOSPC|EDQUOT|no space left on device|disk quota exceeded/i;

/** The error for a process that exited unexpectedly, with the last lines of its log. */
export async function exitError(child: RunningProcess): Promise<AppError> {
  const exit = child.exit();
  const how = exit?.signal
    ? `was ended by ${exit.signal}`
    : `exited with code ${exit?.code ?? "unknown"}`;
  const diskFull = diskFullError(
    await logTail(child.logFile, 200),
    `run ${child.name}`,
    "a fleet needs about 1 GB",
  );
  if (diskFull !== undefined) return diskFull;
  const tail = await logTail(child.logFile);
  return new AppError(
    localErrors.PROCESS_FAILED,
    `${child.name} ${how}; its log ${child.logFile} ends with:\n${tail === "" ? "(nothing)" : tail}`,
  );
}

/**
 * DISK_FULL when a thrown value or an output has the message of a full disk, else undefined. The error quotes that line,
 * which has the path. `doing`: what failed; `needs`: how much space it takes.
 */
export function diskFullError(thrown: unknown, doing: string, needs: string): AppError | undefined {
  if (thrown instanceof AppError && thrown.code === localErrors.DISK_FULL.code) return thrown;
  const line = messageOf(thrown)
    .split("\n")
    .find((one) => diskFullPattern.test(one));
  if (line === undefined) return undefined;
  return new AppError(
    localErrors.DISK_FULL,
    `${doing}: the disk is full (${line.trim()}); ${needs}`,
  );
}

/** The last lines of a file; "" when it cannot be read. */
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
