/**
 * Remembers on disk what exceeded a limit, by a digest of what the process read, so that a restarted agent does not run it
 * again at once. Each failure doubles the time until the next attempt.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { backoffDelayMs } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { z } from "zod";
import { LimitError } from "./limit-error.ts";

const recordSchema = z.object({
  /** What was run and the digest of what it read. */
  key: z.string(),
  failures: z.number().int().min(1),
  retryAtMs: z.number(),
  /** The message of the last failure. */
  message: z.string(),
});

export type LimitRecord = Readonly<z.infer<typeof recordSchema>>;

export interface LimitRecords {
  load(): Promise<void>;
  /** Throws the LimitError of the last failure until its retry is due. */
  check(key: string): void;
  /** Records a failure. `message` says what was run, and which limit it exceeded. */
  exceeded(key: string, message: string): Promise<LimitError>;
  /** Removes the record, if there is one. */
  succeeded(key: string): Promise<void>;
}

const backoff = { firstMs: 60_000, longestMs: 6 * 60 * 60_000 };

/** The oldest are removed: a tenant can make any number of charts. */
const maxRecords = 1_000;

/** A failure after this time without an attempt counts as the first. */
const forgottenMs = 24 * 60 * 60_000;

/** The record of one more failure. Pure. */
export function nextRecord(
  last: LimitRecord | undefined,
  { key, message }: Pick<LimitRecord, "key" | "message">,
  nowMs: number,
): LimitRecord {
  const isRecent = last !== undefined && nowMs - last.retryAtMs < forgottenMs;
  const failures = isRecent ? last.failures + 1 : 1;
  return { key, failures, retryAtMs: nowMs + backoffDelayMs(backoff, failures), message };
}

export function createLimitRecords(
  dir: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): LimitRecords {
  /** The least recently written comes first. */
  const records = new Map<string, LimitRecord>();
  const path = (key: string): string =>
    join(dir, `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`);

  async function remove(key: string): Promise<void> {
    if (records.delete(key)) await rm(path(key), { force: true });
  }

  /** The record also counts if it cannot be written. */
  async function write(record: LimitRecord): Promise<void> {
    records.delete(record.key);
    records.set(record.key, record);
    try {
      const file = path(record.key);
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
      await rename(`${file}.new`, file);
      for (const oldest of [...records.keys()].slice(0, -maxRecords)) await remove(oldest);
    } catch (thrown) {
      log.warn(
        { err: messageOf(thrown) },
        "an exceeded limit was not recorded on disk; after a restart its chart is tried again at once",
      );
    }
  }

  return {
    async load() {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const read: LimitRecord[] = [];
      for (const file of await readdir(dir)) {
        try {
          const record = recordSchema.parse(JSON.parse(await readFile(join(dir, file), "utf8")));
          if (clock.now() - record.retryAtMs < forgottenMs) read.push(record);
          else await rm(join(dir, file), { force: true });
        } catch (thrown) {
          log.warn(
            { file, err: messageOf(thrown) },
            "record of a limit is not readable, deleting it",
          );
          await rm(join(dir, file), { force: true });
        }
      }
      for (const record of read.toSorted((a, b) => a.retryAtMs - b.retryAtMs))
        records.set(record.key, record);
    },
    check(key) {
      const record = records.get(key);
      if (record !== undefined && clock.now() < record.retryAtMs)
        throw new LimitError(record.message, record.retryAtMs);
    },
    async exceeded(key, message) {
      const record = nextRecord(records.get(key), { key, message }, clock.now());
      await write(record);
      return new LimitError(message, record.retryAtMs);
    },
    succeeded: remove,
  };
}
