/** Authentication of webhook calls by their key. Pure. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export interface Credentials {
  readonly authorization?: string | undefined;
  /** `sha256=` and the HMAC of the body in hex. */
  readonly signature?: string | undefined;
}

/**
 * Accepts the key itself, as distribution and Harbor send it (`Bearer KEY`, `KEY`, or the password of Basic), or an HMAC of the
 * body. In constant time.
 */
export function isAuthentic(
  key: string,
  { authorization, signature }: Credentials,
  body: Uint8Array,
): boolean {
  const expected = `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
  const isSigned = isEqual(signature?.toLowerCase() ?? "", expected);
  return key !== "" && (isSigned || isPresented(key, authorization));
}

/** Whether the header has the key itself, so that the body need not be read to know it. In constant time. */
export function isPresented(key: string, authorization: string | undefined): boolean {
  const isRight = isEqual(keyIn(authorization ?? ""), key);
  return key !== "" && isRight;
}

function keyIn(authorization: string): string {
  const [, scheme, rest = ""] = /^(Bearer|Basic)\s+(.*)$/is.exec(authorization.trim()) ?? [];
  if (scheme === undefined) return authorization.trim();
  if (scheme.toLowerCase() === "bearer") return rest.trim();
  const pair = Buffer.from(rest, "base64").toString();
  return pair.slice(pair.indexOf(":") + 1);
}

/** Digests have one length, whatever the texts have. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
