/** A file with a record of each started process, so that the next command can end the processes of a killed one. */
import { appendFileSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type ProcessRecord, type ProcessWatcher, processRecord } from "./process-record.ts";

/** A watcher that appends each process to the file. */
export function openJournal(file: string): ProcessWatcher {
  mkdirSync(dirname(file), { recursive: true });
  return {
    watch(record) {
      // Synchronous: a kill right after the start must not lose the record.
      appendFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
    },
  };
}

/** All recorded processes, oldest first. Skips a line that a crash truncated. */
export async function readJournal(file: string): Promise<readonly ProcessRecord[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const parsed = processRecord.safeParse(parseJson(line));
    return parsed.success ? [parsed.data] : [];
  });
}

function parseJson(line: string): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return value;
  } catch {
    return undefined; // An empty or truncated line.
  }
}
