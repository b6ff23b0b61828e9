/** The agent's identity towards its hub, and its form in the identity Secret. Pure. */
import { X509Certificate } from "node:crypto";
import type { EnrollResponse, IssuedCertificate } from "@flotilla/proto";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Secret } from "@flotilla/shared/kube/objects";
import { agentErrors } from "../../base/errors/index.ts";

export interface AgentIdentity {
  /** PEM. Secret. */
  readonly keyPem: string;
  /** PEM, leaf first. */
  readonly chainPem: string;
  /** PEM of the authorities that the hub is verified with. */
  readonly authoritiesPem: string;
  /** `host:port`. */
  readonly hubAddress: string;
  readonly hubId: string;
  readonly clientId: string;
  /** The digest of the bootstrap Secret that it enrolled with; a Secret with another digest requests a new enrolment. */
  readonly bootstrapDigest: string;
  /** The Cluster on the hub. */
  readonly cluster: { readonly namespace: string; readonly name: string; readonly uid: string };
}

/** The content of the Secret. The key is stored first, so that an agent that crashes while it enrols uses it again. */
export interface StoredIdentity {
  readonly keyPem: string;
  readonly enrolled?: AgentIdentity;
  readonly nextKey?: NextKey;
}

/** Replaces the current key once the agent has enrolled with it. */
export interface NextKey {
  /** PEM. Secret. */
  readonly keyPem: string;
  /** The digest of the bootstrap Secret with which the hub requested a new key; with any other Secret the current key is used. */
  readonly bootstrapDigest: string;
}

/** The validity of a certificate, ms since 1970. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Throws IDENTITY_INVALID. */
export function validityOf(chainPem: string): Validity {
  try {
    const certificate = new X509Certificate(chainPem);
    return {
      notBefore: certificate.validFromDate.getTime(),
      notAfter: certificate.validToDate.getTime(),
    };
  } catch (thrown) {
    throw new AppError(
      agentErrors.IDENTITY_INVALID,
      `cannot parse the agent's certificate: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

/** After two thirds of the lifetime. */
function renewalAt({ notBefore, notAfter }: Validity): number {
  return notBefore + ((notAfter - notBefore) * 2) / 3;
}

/** By the clock of this cluster, ms since 1970. */
export interface CertificateTimes {
  readonly renewAt: number;
  readonly expiresAt: number;
}

/**
 * `issued`: whether the certificate was issued just now, or earlier. The clocks of hub and cluster may differ: when a new
 * certificate does not begin about now, its lifetime is counted from now. Otherwise an agent whose clock is ahead would renew
 * without end.
 */
export function certificateTimes(
  validity: Validity,
  issued: "now" | "before",
  now: number,
): CertificateTimes {
  const { notBefore, notAfter } = validity;
  const lifeMs = notAfter - notBefore;
  const ageMs = now - notBefore;
  const hasSameTime = issued === "before" || (ageMs >= 0 && ageMs <= lifeMs / 2);
  const shiftMs = hasSameTime ? 0 : ageMs;
  return { renewAt: renewalAt(validity) + shiftMs, expiresAt: notAfter + shiftMs };
}

/** The identity that an enrolment resulted in. */
export function fromEnrollResponse(
  response: EnrollResponse,
  own: Pick<AgentIdentity, "keyPem" | "hubAddress" | "clientId" | "bootstrapDigest">,
): AgentIdentity {
  return {
    ...own,
    ...response.certificate,
    hubId: response.hubId,
    cluster: {
      namespace: response.clusterNamespace,
      name: response.clusterName,
      uid: response.clusterUid,
    },
  };
}

/** The identity with a renewed certificate. */
export function renewedWith(
  identity: AgentIdentity,
  certificate: IssuedCertificate,
): AgentIdentity {
  return { ...identity, ...certificate };
}

const keys = {
  keyPem: "tls.key",
  nextKeyPem: "next.key",
  nextKeyDigest: "nextKeyBootstrapDigest",
  chainPem: "tls.crt",
  authoritiesPem: "ca.crt",
  hubAddress: "address",
  hubId: "hubID",
  clientId: "clientID",
  bootstrapDigest: "bootstrapDigest",
  clusterNamespace: "clusterNamespace",
  clusterName: "clusterName",
  clusterUid: "clusterUID",
} as const;

/** `data` of the Secret, in base64. */
export function toSecretData({
  keyPem,
  enrolled,
  nextKey,
}: StoredIdentity): Readonly<Record<string, string>> {
  const texts: Record<string, string> = { [keys.keyPem]: keyPem };
  if (nextKey !== undefined) {
    texts[keys.nextKeyPem] = nextKey.keyPem;
    texts[keys.nextKeyDigest] = nextKey.bootstrapDigest;
  }
  if (enrolled !== undefined) {
    texts[keys.chainPem] = enrolled.chainPem;
    texts[keys.authoritiesPem] = enrolled.authoritiesPem;
    texts[keys.hubAddress] = enrolled.hubAddress;
    texts[keys.hubId] = enrolled.hubId;
    texts[keys.clientId] = enrolled.clientId;
    texts[keys.bootstrapDigest] = enrolled.bootstrapDigest;
    texts[keys.clusterNamespace] = enrolled.cluster.namespace;
    texts[keys.clusterName] = enrolled.cluster.name;
    texts[keys.clusterUid] = enrolled.cluster.uid;
  }
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
}

/** `undefined` when the Secret has no key. An incomplete identity is ignored: the next enrolment completes it. */
export function fromSecret(secret: Secret): StoredIdentity | undefined {
  const read = (key: string): string => Buffer.from(secret.data?.[key] ?? "", "base64").toString();
  const keyPem = read(keys.keyPem);
  if (keyPem === "") return undefined;
  const enrolled: AgentIdentity = {
    keyPem,
    chainPem: read(keys.chainPem),
    authoritiesPem: read(keys.authoritiesPem),
    hubAddress: read(keys.hubAddress),
    hubId: read(keys.hubId),
    clientId: read(keys.clientId),
    bootstrapDigest: read(keys.bootstrapDigest),
    cluster: {
      namespace: read(keys.clusterNamespace),
      name: read(keys.clusterName),
      uid: read(keys.clusterUid),
    },
  };
  const { cluster, ...texts } = enrolled;
  const isComplete = [...Object.values(texts), ...Object.values(cluster)].every(
    (text) => text !== "",
  );
  const nextKey: NextKey = {
    keyPem: read(keys.nextKeyPem),
    bootstrapDigest: read(keys.nextKeyDigest),
  };
  return { keyPem, ...(isComplete && { enrolled }), ...(nextKey.keyPem !== "" && { nextKey }) };
}
