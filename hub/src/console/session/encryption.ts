/**
 * Authenticated encryption of cookies with one of several keys (AES-256-GCM), so that keys can be replaced. Pure but for the
 * nonce.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

export interface SessionKey {
  /** No other key has it: it is in each text that was encrypted with it. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** A text that was encrypted for one cookie is none of another. */
export type Purpose = "session" | "login";

/** Returns `ID.NONCE+CIPHERTEXT+TAG`, in characters that a cookie may have. */
export function encrypt(text: string, { id, key }: SessionKey, purpose: Purpose): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(additionalData(id, purpose));
  const bytes = Buffer.concat([
    nonce,
    cipher.update(text, "utf8"),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return `${id}.${bytes.toString("base64url")}`;
}

/** The key that a text was encrypted with. */
export function keyIdOf(text: string): string {
  return text.slice(0, Math.max(0, text.indexOf(".")));
}

/** Undefined if no key fits, if it is for another purpose, or if the text was changed. */
export function decrypt(
  text: string,
  keys: readonly SessionKey[],
  purpose: Purpose,
): string | undefined {
  const at = text.indexOf(".");
  const id = text.slice(0, at);
  const found = keys.find((each) => each.id === id);
  const bytes = Buffer.from(text.slice(at + 1), "base64url");
  if (found === undefined || at < 0 || bytes.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv(algorithm, found.key, bytes.subarray(0, nonceBytes))
    .setAAD(additionalData(id, purpose))
    .setAuthTag(bytes.subarray(-tagBytes));
  try {
    const plain = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([plain, decipher.final()]).toString();
  } catch {
    // The tag does not fit: it was encrypted with another key, or changed since.
    return undefined;
  }
}

/** Sessions of earlier versions have the id alone. */
function additionalData(id: string, purpose: Purpose): Buffer {
  return Buffer.from(purpose === "session" ? id : `${id} ${purpose}`);
}
