/** Certificates for tests: a new authority, and a certificate of it for 127.0.0.1 or for a client. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

export interface TestCertificate {
  readonly certPem: string;
  readonly keyPem: string;
  readonly caPem: string;
}

export async function issueTestCertificate(
  use: "server" | "client" = "server",
): Promise<TestCertificate> {
  const caKeys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const ca = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: "CN=test-ca",
      keys: caKeys,
      signingAlgorithm: algorithm,
      extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
    },
    webcrypto,
  );
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const cert = await x509.X509CertificateGenerator.create(
    {
      subject: "CN=test",
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.ExtendedKeyUsageExtension([
          use === "server" ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
        ]),
        new x509.SubjectAlternativeNameExtension([{ type: "ip", value: "127.0.0.1" }]),
      ],
    },
    webcrypto,
  );
  const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString(
    "base64",
  );
  return {
    certPem: cert.toString("pem"),
    keyPem: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
    caPem: ca.toString("pem"),
  };
}
