/** Issues keys and certificates for servers and clients on this machine. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const lifetimeMs = 10 * 365 * 24 * 3600 * 1000;

/** A certificate and its private key, as PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** A key pair as PEM, for signing tokens. */
export async function generateSigningKeys(): Promise<{
  readonly privateKey: string;
  readonly publicKey: string;
}> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  return {
    privateKey: await pemOf("PRIVATE KEY", keys.privateKey),
    publicKey: await pemOf("PUBLIC KEY", keys.publicKey),
  };
}

/** A certificate authority: as PEM, and its keys for signing. */
export interface Authority extends KeyPair {
  readonly subject: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

/** Issues a self-signed authority. */
export async function issueAuthority(name: string): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const cert = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      ...validity(),
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return {
    cert: cert.toString("pem"),
    key: await pemOf("PRIVATE KEY", keys.privateKey),
    subject: cert.subject,
    keys,
  };
}

/** Issues a key and a certificate signed by the authority. */
export async function issueCertificate(
  ca: Authority,
  options: { readonly subject: string; readonly use: "server" | "client" },
): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const extensions: x509.Extension[] = [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([
      options.use === "server"
        ? x509.ExtendedKeyUsage.serverAuth
        : x509.ExtendedKeyUsage.clientAuth,
    ]),
    await x509.AuthorityKeyIdentifierExtension.create(ca.keys.publicKey, false, webcrypto),
  ];
  if (options.use === "server")
    extensions.push(new x509.SubjectAlternativeNameExtension([...serverNames]));
  const cert = await x509.X509CertificateGenerator.create(
    {
      subject: options.subject,
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: ca.keys.privateKey,
      signingAlgorithm: algorithm,
      ...validity(),
      extensions,
    },
    webcrypto,
  );
  return { cert: cert.toString("pem"), key: await pemOf("PRIVATE KEY", keys.privateKey) };
}

/** Subject alternative names of servers on this machine; 10.96.0.1 is the Service `kubernetes`. */
const serverNames: readonly x509.JsonGeneralName[] = [
  { type: "ip", value: "127.0.0.1" },
  { type: "ip", value: "::1" },
  { type: "ip", value: "10.96.0.1" },
  { type: "dns", value: "localhost" },
  { type: "dns", value: "kubernetes" },
  { type: "dns", value: "kubernetes.default" },
  { type: "dns", value: "kubernetes.default.svc" },
];

function validity(): { readonly notBefore: Date; readonly notAfter: Date } {
  const now = Date.now();
  // One hour back: the clock of a machine after a resume may still be corrected.
  return { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + lifetimeMs) };
}

async function pemOf(
  label: "PRIVATE KEY" | "PUBLIC KEY",
  key: webcrypto.CryptoKey,
): Promise<string> {
  const der = await webcrypto.subtle.exportKey(label === "PRIVATE KEY" ? "pkcs8" : "spki", key);
  return x509.PemConverter.encode(der, label);
}
