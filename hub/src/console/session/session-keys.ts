/**
 * The keys that encrypt sessions, in a Secret of the hub: the replica with the first login creates it, the leader rotates the keys,
 * and every replica reads it again for a key that it does not know.
 */

import { randomBytes } from "node:crypto";
import { sessionKeysSecretName as name } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { isConflict, type KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, delay } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import { dataOf, ensureSecret } from "../../link/index.ts";
import type { SessionKey } from "./encryption.ts";
import { formatKeys, nextRotationMs, parseKeys, rotated, type StoredKey } from "./key-rotation.ts";

export interface SessionKeys {
  /** Newest first, with the key `id` if there is one of that name. */
  get(id?: string): Promise<readonly SessionKey[]>;
}

export interface SessionKeysDeps {
  readonly rest: KubeRest;
  /** The hub's own, which must exist. */
  readonly namespace: string;
  readonly clock: Clock;
}

const dataKey = "keys";
/** For an unknown key: of a cookie of another hub, or a forged one. */
const rereadEveryMs = 1_000;
/** A key that was rotated is used by every replica within this time. */
const freshMs = 60_000;

export function createSessionKeys({ rest, namespace, clock }: SessionKeysDeps): SessionKeys {
  let kept: { readonly keys: readonly StoredKey[]; readonly readAt: number } | undefined;
  let reading: Promise<readonly StoredKey[]> | undefined;

  async function read(): Promise<readonly StoredKey[]> {
    const secret = await ensureSecret(rest, { namespace, name }, () =>
      Promise.resolve({ data: { [dataKey]: encoded(firstKeys(clock.now())) } }),
    );
    const keys = keysIn(secret);
    kept = { keys, readAt: clock.monotonic() };
    return keys;
  }

  return {
    async get(id) {
      const ageMs = kept === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() - kept.readAt;
      const isKnown = id === undefined || kept?.keys.some((each) => each.id === id) === true;
      if (kept !== undefined && ageMs < (isKnown ? freshMs : rereadEveryMs)) return kept.keys;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return await reading;
    },
  };
}

/** The one that encrypts now. Throws LOGIN_FAILED if the Secret is empty. */
export async function newestKey(keys: SessionKeys): Promise<SessionKey> {
  const [newest] = await keys.get();
  if (newest === undefined)
    throw new AppError(
      hubErrors.LOGIN_FAILED,
      `the Secret ${name} has no key for sessions; have it deleted, and log in again`,
    );
  return newest;
}

/** Rotates the keys until `signal` aborts, as the leader; does nothing before the first login. Never rejects. */
export async function runKeyRotation(
  { rest, namespace, clock, log }: SessionKeysDeps & { readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const checkEveryMs = 3_600_000;
  const hasEnded = (): boolean => signal.aborted;
  while (!hasEnded()) {
    let waitMs = checkEveryMs;
    try {
      const secret = await rest.get(secrets, { namespace, name }, { signal });
      if (secret !== undefined) {
        const keys = keysIn(secret);
        const next = rotated(keys, clock.now(), newKey);
        if (next !== undefined) {
          await rest.replace(
            secrets,
            { ...secret, data: { [dataKey]: encoded(next) } },
            { signal },
          );
          log.info({ keys: next.length }, "rotated the keys of sessions");
        }
        waitMs = Math.min(checkEveryMs, nextRotationMs(next ?? keys, clock.now()) + 1_000);
      }
    } catch (err) {
      // After a conflict another leader has rotated them; when this one ends it is not a failure.
      if (!isConflict(err) && !hasEnded())
        log.warn({ err }, "cannot rotate the keys of sessions; retrying in an hour");
    }
    await delay(clock, waitMs, signal);
  }
}

function keysIn(secret: Secret): readonly StoredKey[] {
  return parseKeys(dataOf(secret, dataKey).toString());
}

function encoded(keys: readonly StoredKey[]): string {
  return Buffer.from(formatKeys(keys)).toString("base64");
}

function firstKeys(nowMs: number): readonly StoredKey[] {
  return [{ ...newKey(), createdAtMs: nowMs }];
}

function newKey(): SessionKey {
  return { id: randomBytes(6).toString("base64url"), key: randomBytes(32) };
}
