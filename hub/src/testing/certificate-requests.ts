/** Certificate requests, valid ones of agents and others. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { Pkcs10CertificateRequestGenerator } from "@peculiar/x509";

const p256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** PKCS #10, DER, for a key of its own. */
export async function aCertificateRequest(
  algorithm: webcrypto.EcKeyGenParams & { readonly hash: string } = p256,
): Promise<Uint8Array> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const request = await Pkcs10CertificateRequestGenerator.create(
    { name: "CN=agent", keys, signingAlgorithm: algorithm },
    webcrypto,
  );
  return new Uint8Array(request.rawData);
}
