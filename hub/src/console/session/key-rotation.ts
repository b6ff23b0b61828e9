/** Which keys encrypt sessions, and until when: the newest encrypts, older ones only decrypt what they encrypted. Pure. */
import * as z from "zod";
import type { SessionKey } from "./encryption.ts";

const hourMs = 3_600_000;
/** A session ends after this long even if its token is valid longer. */
export const maxSessionMs = 24 * hourMs;
/** Each key encrypts for this long. */
export const keyLifeMs = 24 * hourMs;

const keysSchema = z.array(
  z.object({ id: z.string().min(1), key: z.base64(), createdAt: z.iso.datetime() }),
);

export interface StoredKey extends SessionKey {
  readonly createdAtMs: number;
}

/** As in the Secret, newest first. Throws on anything else. */
export function parseKeys(text: string): readonly StoredKey[] {
  return keysSchema.parse(JSON.parse(text)).map(({ id, key, createdAt }) => ({
    id,
    key: Buffer.from(key, "base64"),
    createdAtMs: Date.parse(createdAt),
  }));
}

export function formatKeys(keys: readonly StoredKey[]): string {
  return JSON.stringify(
    keys.map(({ id, key, createdAtMs }) => ({
      id,
      key: Buffer.from(key).toString("base64"),
      createdAt: new Date(createdAtMs).toISOString(),
    })),
  );
}

/** The keys after a rotation at `nowMs`; undefined if none is due. `fresh`: a key that has not been used. */
export function rotated(
  keys: readonly StoredKey[],
  nowMs: number,
  fresh: () => SessionKey,
): readonly StoredKey[] | undefined {
  const [newest] = keys;
  if (newest !== undefined && nowMs - newest.createdAtMs < keyLifeMs) return undefined;
  const stillUsed = keys.filter(
    ({ createdAtMs }) => nowMs - createdAtMs < keyLifeMs + maxSessionMs,
  );
  return [{ ...fresh(), createdAtMs: nowMs }, ...stillUsed];
}

/** When the next rotation is due, in ms from now. */
export function nextRotationMs(keys: readonly StoredKey[], nowMs: number): number {
  const [newest] = keys;
  return newest === undefined ? keyLifeMs : Math.max(0, newest.createdAtMs + keyLifeMs - nowMs);
}
