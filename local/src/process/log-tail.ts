/** The end of a log file, for the message of an error. */
import { open } from "node:fs/promises";

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
