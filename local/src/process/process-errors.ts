/**
 * Why a process ended unexpectedly, by the end of its log: PORT_IN_USE and DISK_FULL, which its callers and users can do something
 * about, else PROCESS_FAILED. What the programs print is theirs, and they have no other way to say it.
 */
import { open } from "node:fs/promises";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { localErrors } from "../errors.ts";
import type { RunningProcess } from "./start-process.ts";

const tailBytes = 16 * 1024;
const diskFullPattern = /ENOSPC|EDQUOT|no space left on device|disk quota exceeded/i;
const portInUsePattern = /address already in use|EADDRINUSE/;

/** The error for a process that exited unexpectedly, with the last lines of its log: PROCESS_FAILED, PORT_IN_USE or DISK_FULL. */
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
    portInUsePattern.test(tail) ? localErrors.PORT_IN_USE : localErrors.PROCESS_FAILED,
    `${child.name} ${how}; its log ${child.logFile} ends with:\n${tail === "" ? "(nothing)" : tail}`,
  );
}

/**
 * DISK_FULL when a thrown value or an output has the message of a full disk, else undefined. The error quotes that line,
 * which has the path. `doing`: what failed; `needs`: how much space it takes.
 */
export function diskFullError(thrown: unknown, doing: string, needs: string): AppError | undefined {
  if (thrown instanceof AppError && thrown.code === localErrors.DISK_FULL.code) return thrown;
  // biome-ignore lint/plugin: what foreign programs print
  const line = messageOf(thrown)
    .split("\n")
    .find((one) => diskFullPattern.test(one));
  if (line === undefined) return undefined;
  return new AppError(
    localErrors.DISK_FULL,
    `${doing}: the disk is full (${line.trim()}); ${needs}`,
  );
}

/** Whether a process could not start because another one has its port. */
export function isPortInUse(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.code === localErrors.PORT_IN_USE.code;
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
