/**
 * Remembers what exceeded a limit, by a digest of what the process read, so that neither a restarted agent nor one in another
 * pod runs it again at once. Each failure doubles the time until the next attempt.
 */

import { agentNamespace } from "@flotilla/shared/api/names";
import { backoffDelayMs, createKeyedMutex } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import type { Secret } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { cutText } from "@flotilla/shared/text";
import type { Clock } from "@flotilla/shared/time";
import * as z from "zod";
import type { SecretStorage } from "../storage/secret-storage.ts";
import { LimitError } from "./limit-error.ts";

const recordSchema = z.object({
  /** What was run and the digest of what it read. */
  key: z.string(),
  failures: z.number().int().min(1),
  retryAtMs: z.number(),
  /** The message of the last failure. */
  message: z.string(),
});

const recordsSchema = z.array(recordSchema);

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

export interface LimitRecordsDeps {
  readonly secrets: SecretStorage;
  readonly clock: Clock;
  readonly log: Log;
}

const backoff = { firstMs: 60_000, longestMs: 6 * 60 * 60_000 };

/** The oldest are removed: a tenant can make any number of charts, and all records are in one Secret. */
const maxRecords = 500;
const maxBytes = 512 * 1024;
const maxMessage = 500;

/** A failure after this time without an attempt counts as the first. */
const forgottenMs = 24 * 60 * 60_000;

const secretName = "limit-records";
const limitRecordsLabel = "flotilla.dev/limit-records";

/** The record of one more failure. Pure. */
export function nextRecord(
  last: LimitRecord | undefined,
  { key, message }: Pick<LimitRecord, "key" | "message">,
  nowMs: number,
): LimitRecord {
  const isRecent = last !== undefined && nowMs - last.retryAtMs < forgottenMs;
  const failures = isRecent ? last.failures + 1 : 1;
  const retryAtMs = nowMs + backoffDelayMs(backoff, failures);
  return { key, failures, retryAtMs, message: cutText(message, maxMessage) };
}

/** The newest that fit into one Secret; the least recently written comes first. Pure. */
export function newestRecords(
  records: readonly LimitRecord[],
  limits: { readonly count: number; readonly bytes: number } = {
    count: maxRecords,
    bytes: maxBytes,
  },
): readonly LimitRecord[] {
  let bytes = 0;
  const newest = records.slice(-limits.count);
  const from = newest.findLastIndex((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    return bytes > limits.bytes;
  });
  return newest.slice(from + 1);
}

export function createLimitRecords({ secrets, clock, log }: LimitRecordsDeps): LimitRecords {
  /** The least recently written comes first. */
  const records = new Map<string, LimitRecord>();
  const writes = createKeyedMutex();
  let version = 0;
  let storedVersion = 0;

  /** Never rejects: a record also counts if it cannot be stored. */
  function changed(): Promise<void> {
    version += 1;
    return writes.run(secretName, async () => {
      if (storedVersion === version) return;
      const storing = version;
      try {
        if (records.size === 0) await secrets.remove(secretName);
        else await secrets.write(toSecret([...records.values()]));
        storedVersion = storing;
      } catch (thrown) {
        log.warn(
          { err: messageOf(thrown) },
          "an exceeded limit was not stored in this cluster; after a restart its chart is tried again at once",
        );
      }
    });
  }

  return {
    async load() {
      const [secret] = await secrets.list(`${limitRecordsLabel}=true`);
      if (secret === undefined) return;
      for (const record of parse(secret, log))
        if (clock.now() - record.retryAtMs < forgottenMs) records.set(record.key, record);
    },
    check(key) {
      const record = records.get(key);
      if (record !== undefined && clock.now() < record.retryAtMs)
        throw new LimitError(record.message, record.retryAtMs);
    },
    async exceeded(key, message) {
      const record = nextRecord(records.get(key), { key, message }, clock.now());
      records.delete(key);
      const kept = newestRecords([...records.values(), record]);
      records.clear();
      for (const each of kept) records.set(each.key, each);
      await changed();
      return new LimitError(message, record.retryAtMs);
    },
    async succeeded(key) {
      if (records.delete(key)) await changed();
    },
  };
}

function toSecret(records: readonly LimitRecord[]): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: agentNamespace,
      name: secretName,
      labels: { [limitRecordsLabel]: "true" },
    },
    type: "flotilla.dev/limit-records",
    data: { records: Buffer.from(JSON.stringify(records)).toString("base64") },
  };
}

/** None if they cannot be read: then charts are tried again at once. */
function parse(secret: Secret, log: Log): readonly LimitRecord[] {
  try {
    const json = Buffer.from(secret.data?.["records"] ?? "", "base64").toString();
    return recordsSchema.parse(JSON.parse(json));
  } catch (thrown) {
    log.warn(
      { secret: secretName, err: messageOf(thrown) },
      "records of exceeded limits are not readable, ignoring them",
    );
    return [];
  }
}
