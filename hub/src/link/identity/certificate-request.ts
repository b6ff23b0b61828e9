/** Parses certificate requests of agents: PKCS #10, signed with the requested key. */
import { hubErrors } from "../../base/index.ts";
import "reflect-metadata";
import { createHash, createPublicKey, webcrypto } from "node:crypto";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { Pkcs10CertificateRequest } from "@peculiar/x509";

/** The public key of a request with a valid signature. */
export interface RequestedKey {
  /** SPKI, DER. */
  readonly spki: Uint8Array;
  /** `sha256:` and hex, of the SPKI. */
  readonly fingerprint: string;
}

/** A request for a P-256 key has about 250 bytes. */
const maxRequestBytes = 4096;

/** Throws CERTIFICATE_REQUEST_INVALID. Names and extensions of the request are ignored: the hub sets them. */
export async function readCertificateRequest(der: Uint8Array): Promise<RequestedKey> {
  if (der.length === 0 || der.length > maxRequestBytes) {
    throw invalid(`it has ${der.length} bytes, not 1 to ${maxRequestBytes}`);
  }
  let spki: Uint8Array;
  let isProven: boolean;
  try {
    const request = new Pkcs10CertificateRequest(new Uint8Array(der));
    spki = new Uint8Array(request.publicKey.rawData);
    isProven = await request.verify(webcrypto);
  } catch (thrown) {
    throw invalid(messageOf(thrown), thrown);
  }
  if (!isProven) throw invalid("it is not signed with the requested key");
  const curve = namedCurveOf(spki);
  if (curve !== "prime256v1") throw invalid(`its key is ${curve}, not P-256`);
  return { spki, fingerprint: fingerprintOf(spki) };
}

export function fingerprintOf(spki: Uint8Array): string {
  return `sha256:${createHash("sha256").update(spki).digest("hex")}`;
}

function namedCurveOf(spki: Uint8Array): string {
  const key = createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  return key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? "unknown";
}

function invalid(why: string, cause?: unknown): AppError {
  return new AppError(
    hubErrors.CERTIFICATE_REQUEST_INVALID,
    `invalid certificate request: ${why}`,
    { cause },
  );
}
