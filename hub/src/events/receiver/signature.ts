/** Comparison of secrets and HMACs in constant time. Pure. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const algorithms = ["sha1", "sha256", "sha512"] as const;

export type HmacAlgorithm = (typeof algorithms)[number];

/** In constant time: digests have one length, whatever the texts have. */
export function isEqualInTime(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

/** Whether `hex` is the HMAC of the body. False without a key: anybody could compute it. */
export function isHmacOf(
  hex: string,
  { key, algorithm }: { readonly key: string; readonly algorithm: HmacAlgorithm },
  body: Uint8Array,
): boolean {
  const expected = createHmac(algorithm, key).update(body).digest("hex");
  const isEqual = isEqualInTime(hex.toLowerCase(), expected);
  return isEqual && key !== "";
}

/** A signature as GitHub writes it, `sha256=<hex>`; also with sha1 and sha512. */
export function isSigned(signature: string, key: string, body: Uint8Array): boolean {
  const [prefix = "", hex = ""] = signature.split("=", 2);
  const algorithm = algorithms.find((each) => each === prefix.toLowerCase());
  return algorithm !== undefined && isHmacOf(hex, { key, algorithm }, body);
}
