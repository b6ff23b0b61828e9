/** Reads what an agent sends to get a certificate: a PKCS #10 request signed with the key that it asks for. */
import "reflect-metadata";
import { createHash, createPublicKey, webcrypto } from "node:crypto";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { Pkcs10CertificateRequest } from "@peculiar/x509";
import { identityErrors } from "./errors.ts";

/** The public key of a request whose signature was checked. */
export interface RequestedKey {
  /** SPKI, DER. */
  readonly spki: Uint8Array;
  /** `sha256:` and hex, of the SPKI. */
  readonly fingerprint: string;
}

/** A request for a P-256 key has some 250 bytes; what is longer was not made by an agent. */
const maxRequestBytes = 4096;

/** Throws CERTIFICATE_REQUEST_INVALID. Names and extensions of the request are ignored: the hub alone gives those. */
export async function readCertificateRequest(der: Uint8Array): Promise<RequestedKey> {
  if (der.length === 0 || der.length > maxRequestBytes) {
    throw invalid(`it has ${der.length} bytes, expected are 1 to ${maxRequestBytes}`);
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
  if (!isProven) throw invalid("it is not signed with the key that it asks a certificate for");
  const curve = namedCurveOf(spki);
  if (curve !== "prime256v1") throw invalid(`its key is of the kind ${curve}, expected is P-256`);
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
    identityErrors.CERTIFICATE_REQUEST_INVALID,
    `the certificate request cannot be used: ${why}`,
    { cause },
  );
}
