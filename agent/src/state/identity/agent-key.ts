/** The agent's private key, which never leaves its cluster, and certificate requests signed with it. */
import "reflect-metadata";
import { createPrivateKey, createPublicKey, webcrypto } from "node:crypto";
import { PemConverter, Pkcs10CertificateRequestGenerator } from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A new private key, PEM. Secret. */
export async function createAgentKey(): Promise<string> {
  const { privateKey } = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  return PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", privateKey), "PRIVATE KEY");
}

/** PKCS #10, DER. */
export async function createCertificateRequest(keyPem: string): Promise<Uint8Array> {
  const key = createPrivateKey(keyPem);
  const [privateKey, publicKey] = await Promise.all([
    webcrypto.subtle.importKey(
      "pkcs8",
      key.export({ format: "der", type: "pkcs8" }),
      algorithm,
      false,
      ["sign"],
    ),
    webcrypto.subtle.importKey(
      "spki",
      createPublicKey(key).export({ format: "der", type: "spki" }),
      algorithm,
      true,
      ["verify"],
    ),
  ]);
  const request = await Pkcs10CertificateRequestGenerator.create(
    // The hub sets the subject of the certificate.
    { name: "CN=flotilla-agent", keys: { privateKey, publicKey }, signingAlgorithm: algorithm },
    webcrypto,
  );
  return new Uint8Array(request.rawData);
}
