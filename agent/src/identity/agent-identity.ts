/** Who the agent is to its hub, and how that lies in a Secret. Pure. */
import { X509Certificate } from "node:crypto";
import type { EnrollResponse, IssuedCertificate } from "@flotilla/proto/messages.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import { agentIdentityErrors } from "./errors.ts";

export const identitySecretName = "flotilla-identity";

export interface AgentIdentity {
  /** PEM. Secret. */
  readonly keyPem: string;
  /** PEM, leaf first. */
  readonly chainPem: string;
  /** What the hub is trusted by, PEM. */
  readonly authoritiesPem: string;
  /** `host:port`. */
  readonly hubAddress: string;
  readonly hubId: string;
  readonly clientId: string;
  /** Of the bootstrap Secret that it enrolled with (`markOf`): another one is an order to enrol again. */
  readonly bootstrapMark: string;
  /** The Cluster on the hub. */
  readonly cluster: { readonly namespace: string; readonly name: string; readonly uid: string };
}

/** What the Secret holds: the key is there before the rest, so that whoever crashes in between enrols with it again. */
export interface StoredIdentity {
  readonly keyPem: string;
  readonly enrolled?: AgentIdentity;
  readonly nextKey?: NextKey;
}

/** A key that takes the place of the one of before once the agent has enrolled with it. */
export interface NextKey {
  /** PEM. Secret. */
  readonly keyPem: string;
  /** Of the bootstrap Secret (`markOf`) that the hub asked for it with; with every other one the key of before counts. */
  readonly bootstrapMark: string;
}

/** When a certificate began and ends, ms since 1970. */
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
      agentIdentityErrors.IDENTITY_INVALID,
      `the agent's certificate cannot be read: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

/** When a certificate is to be renewed: at two thirds of its life. */
function renewalAt({ notBefore, notAfter }: Validity): number {
  return notBefore + ((notAfter - notBefore) * 2) / 3;
}

/** How long a certificate is to be used, by this side's clock, ms since 1970. */
export interface CertificateTimes {
  readonly renewAt: number;
  readonly goodUntil: number;
}

/**
 * Of a certificate that was `issued` just now, or at some time before. The hub's clock may be another: where they do not
 * agree on the beginning of a new certificate, its length counts from now. Else an agent whose clock is ahead would renew
 * without end.
 */
export function timesOf(
  validity: Validity,
  issued: "now" | "before",
  now: number,
): CertificateTimes {
  const { notBefore, notAfter } = validity;
  const lifeMs = notAfter - notBefore;
  const ageMs = now - notBefore;
  const isInStep = issued === "before" || (ageMs >= 0 && ageMs <= lifeMs / 2);
  const shiftMs = isInStep ? 0 : ageMs;
  return { renewAt: renewalAt(validity) + shiftMs, goodUntil: notAfter + shiftMs };
}

export function enrolledAs(
  response: EnrollResponse,
  own: Pick<AgentIdentity, "keyPem" | "hubAddress" | "clientId" | "bootstrapMark">,
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

export function renewedWith(
  identity: AgentIdentity,
  certificate: IssuedCertificate,
): AgentIdentity {
  return { ...identity, ...certificate };
}

const keys = {
  keyPem: "tls.key",
  nextKeyPem: "next.key",
  nextKeyMark: "nextKeyMark",
  chainPem: "tls.crt",
  authoritiesPem: "ca.crt",
  hubAddress: "address",
  hubId: "hubID",
  clientId: "clientID",
  bootstrapMark: "bootstrapMark",
  clusterNamespace: "clusterNamespace",
  clusterName: "clusterName",
  clusterUid: "clusterUID",
} as const;

export function toSecretData({
  keyPem,
  enrolled,
  nextKey,
}: StoredIdentity): Readonly<Record<string, string>> {
  const texts: Record<string, string> = { [keys.keyPem]: keyPem };
  if (nextKey !== undefined) {
    texts[keys.nextKeyPem] = nextKey.keyPem;
    texts[keys.nextKeyMark] = nextKey.bootstrapMark;
  }
  if (enrolled !== undefined) {
    texts[keys.chainPem] = enrolled.chainPem;
    texts[keys.authoritiesPem] = enrolled.authoritiesPem;
    texts[keys.hubAddress] = enrolled.hubAddress;
    texts[keys.hubId] = enrolled.hubId;
    texts[keys.clientId] = enrolled.clientId;
    texts[keys.bootstrapMark] = enrolled.bootstrapMark;
    texts[keys.clusterNamespace] = enrolled.cluster.namespace;
    texts[keys.clusterName] = enrolled.cluster.name;
    texts[keys.clusterUid] = enrolled.cluster.uid;
  }
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
}

/** `undefined` when the Secret has no key. A half-written identity counts as none: enrolling again completes it. */
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
    bootstrapMark: read(keys.bootstrapMark),
    cluster: {
      namespace: read(keys.clusterNamespace),
      name: read(keys.clusterName),
      uid: read(keys.clusterUid),
    },
  };
  const { cluster, ...texts } = enrolled;
  const isWhole = [...Object.values(texts), ...Object.values(cluster)].every((text) => text !== "");
  const nextKey: NextKey = { keyPem: read(keys.nextKeyPem), bootstrapMark: read(keys.nextKeyMark) };
  return { keyPem, ...(isWhole && { enrolled }), ...(nextKey.keyPem !== "" && { nextKey }) };
}
