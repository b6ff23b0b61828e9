/** The hub's certificate authority: issues certificates for agents and for the hub's port. P-256. */
import { hubErrors } from "../../base/index.ts";
import "reflect-metadata";
import { createPrivateKey, createPublicKey, webcrypto, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { hubServerName } from "@flotilla/proto";
import { AppError, messageOf } from "@flotilla/shared/errors";
import * as x509 from "@peculiar/x509";
import { type ClusterIdentity, formatIdentity } from "../identity/cluster-identity.ts";
import { formatReplicaIdentity, type ReplicaIdentity } from "../identity/replica-identity.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const authorityLifetimeMs = 10 * 365 * 24 * 3_600_000;
/** Certificates are valid from this long before now, for clocks that are behind the hub's. */
const longestBackdatedMs = 5 * 60_000;

/** A certificate and its private key, PEM. The key is secret. */
export interface StoredAuthority {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** A certificate chain and its private key, PEM. The key is secret. */
export interface ServingCertificate {
  readonly chainPem: string;
  readonly keyPem: string;
  /** ms since 1970. */
  readonly notAfter: number;
}

export interface ClientCertificateRequest {
  readonly identity: ClusterIdentity;
  /** SPKI, DER. */
  readonly spki: Uint8Array;
  readonly lifetimeMs: number;
}

export interface CertificateAuthority {
  /** Its own certificate, PEM. */
  readonly authoritiesPem: string;
  /** PEM, leaf first. */
  issueClient(request: ClientCertificateRequest): Promise<string>;
  /** `names`: DNS names and IP addresses. */
  issueServing(names: readonly string[], lifetimeMs: number): Promise<ServingCertificate>;
  /** By which a replica of the hub and another one know each other, on either side of a connection. */
  issueReplica(identity: ReplicaIdentity, lifetimeMs: number): Promise<ServingCertificate>;
}

/** What a certificate of this authority says. */
interface Leaf {
  readonly subject: string;
  readonly lifetimeMs: number;
  readonly usages: readonly x509.ExtendedKeyUsage[];
  readonly names: readonly x509.JsonGeneralName[];
}

/** A new authority. `now` is ms since 1970, as everywhere here. */
export async function createAuthority(now: number): Promise<StoredAuthority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: "CN=flotilla-ca",
      keys,
      signingAlgorithm: algorithm,
      notBefore: new Date(now - longestBackdatedMs),
      notAfter: new Date(now + authorityLifetimeMs),
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return { certificatePem: toPem(certificate), keyPem: await keyPemOf(keys.privateKey) };
}

/** Throws SECRET_INVALID when certificate and key do not match or cannot be parsed. */
export async function openAuthority(
  stored: StoredAuthority,
  now: () => number,
): Promise<CertificateAuthority> {
  const { issuer, signingKey } = await readAuthority(stored);
  const issuerKey = await x509.AuthorityKeyIdentifierExtension.create(
    issuer.publicKey,
    false,
    webcrypto,
  );

  async function issue(
    what: Leaf & { readonly publicKey: x509.PublicKeyType },
  ): Promise<x509.X509Certificate> {
    const at = now();
    return x509.X509CertificateGenerator.create(
      {
        subject: what.subject,
        issuer: issuer.subject,
        publicKey: what.publicKey,
        signingKey,
        signingAlgorithm: algorithm,
        // Agents renew after a share of the validity: a short one must not start half over.
        notBefore: new Date(at - Math.min(longestBackdatedMs, what.lifetimeMs / 10)),
        // Never valid for longer than its issuer.
        notAfter: new Date(Math.min(at + what.lifetimeMs, issuer.notAfter.getTime())),
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.ExtendedKeyUsageExtension([...what.usages]),
          new x509.SubjectAlternativeNameExtension([...what.names]),
          issuerKey,
        ],
      },
      webcrypto,
    );
  }

  async function issueWithKey(what: Leaf): Promise<ServingCertificate> {
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const certificate = await issue({ ...what, publicKey: keys.publicKey });
    return {
      chainPem: toPem(certificate) + stored.certificatePem,
      keyPem: await keyPemOf(keys.privateKey),
      notAfter: certificate.notAfter.getTime(),
    };
  }

  return {
    authoritiesPem: stored.certificatePem,
    async issueClient({ identity, spki, lifetimeMs }) {
      const certificate = await issue({
        // A common name has at most 64 characters, a Cluster's name 253: the identity is in the URI SAN.
        subject: "CN=flotilla-agent",
        publicKey: new x509.PublicKey(new Uint8Array(spki)),
        lifetimeMs,
        usages: [x509.ExtendedKeyUsage.clientAuth],
        names: [{ type: "url", value: formatIdentity(identity) }],
      });
      return toPem(certificate);
    },
    issueServing: (names, lifetimeMs) =>
      issueWithKey({
        subject: "CN=flotilla-hub",
        lifetimeMs,
        usages: [x509.ExtendedKeyUsage.serverAuth],
        names: [hubServerName, ...names].map((name) => ({
          type: isIP(name) === 0 ? "dns" : "ip",
          value: name,
        })),
      }),
    issueReplica: (identity, lifetimeMs) =>
      issueWithKey({
        subject: "CN=flotilla-replica",
        lifetimeMs,
        usages: [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth],
        names: [{ type: "url", value: formatReplicaIdentity(identity) }],
      }),
  };
}

interface OpenAuthority {
  readonly issuer: x509.X509Certificate;
  readonly signingKey: webcrypto.CryptoKey;
}

async function readAuthority({ certificatePem, keyPem }: StoredAuthority): Promise<OpenAuthority> {
  try {
    const key = createPrivateKey(keyPem);
    const der = key.export({ format: "der", type: "pkcs8" });
    const signingKey = await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
    const certificate = new X509Certificate(certificatePem);
    if (!certificate.publicKey.equals(createPublicKey(key))) {
      throw new Error("key and certificate do not match");
    }
    return { issuer: new x509.X509Certificate(certificatePem), signingKey };
  } catch (thrown) {
    throw new AppError(
      hubErrors.SECRET_INVALID,
      `invalid Secret of the hub's certificate authority: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

function toPem(certificate: x509.X509Certificate): string {
  return `${certificate.toString("pem")}\n`;
}

async function keyPemOf(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}
