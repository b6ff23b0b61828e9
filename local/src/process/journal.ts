/**
 * A file that remembers each process at its start, before anything else can go wrong, so that the next program can end
 * what a killed one left behind.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type ProcessRecord, type ProcessWatcher, processRecord } from "./process-record.ts";

/** A watcher that appends to the file. */
export function openJournal(file: string): ProcessWatcher {
  mkdirSync(dirname(file), { recursive: true });
  return {
    watch(record) {
      // In one go and before we go on: being killed right after the start must not lose the process.
      appendFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
    },
  };
}

/** All processes that were ever started, oldest first; a line that was cut off by a crash is passed over. */
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
    return undefined; // An empty or half line.
  }
}
