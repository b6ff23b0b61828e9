/** Private keys of any size at once: generating a large one takes seconds. */
import { createPrivateKey, randomBytes } from "node:crypto";

/** RSA in PEM. Its numbers are random, so what it signs is not a signature. `bits`: a multiple of 16. */
export function rsaKeyOfSize(bits: number): string {
  const part = (size: number): string => {
    const bytes = randomBytes(size / 8);
    bytes[0] = 0x80;
    return bytes.toString("base64url");
  };
  const half = bits / 2;
  const [p, q, dp, dq, qi] = [part(half), part(half), part(half), part(half), part(half)];
  const key = { kty: "RSA", e: "AQAB", n: part(bits), d: part(bits), p, q, dp, dq, qi };
  return createPrivateKey({ format: "jwk", key })
    .export({ type: "pkcs8", format: "pem" })
    .toString();
}
