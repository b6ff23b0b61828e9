/** Authentication of webhook calls by their key. Pure. */
import { isEqualInTime, isSigned } from "./signature.ts";

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
  return isSigned(signature ?? "", key, body) || isPresented(key, authorization);
}

/** Whether the header has the key itself, so that the body need not be read to know it. In constant time. */
export function isPresented(key: string, authorization: string | undefined): boolean {
  const isRight = isEqualInTime(keyIn(authorization ?? ""), key);
  return key !== "" && isRight;
}

function keyIn(authorization: string): string {
  const [, scheme, rest = ""] = /^(Bearer|Basic)\s+(.*)$/is.exec(authorization.trim()) ?? [];
  if (scheme === undefined) return authorization.trim();
  if (scheme.toLowerCase() === "bearer") return rest.trim();
  const pair = Buffer.from(rest, "base64").toString();
  return pair.slice(pair.indexOf(":") + 1);
}
