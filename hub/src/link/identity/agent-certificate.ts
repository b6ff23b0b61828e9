/** Authentication of agents by the verified client certificate, and authorization by the Cluster that it names. Pure. */

import { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import { type Cluster, isManagedElsewhere } from "@flotilla/shared/api";
import { agentKeyAnnotation } from "@flotilla/shared/api/names";
import { formatTimeMs } from "@flotilla/shared/time";
import { status } from "@grpc/grpc-js";
import {
  hubErrors,
  isBeingEmptied,
  managedElsewhereText,
  revocationOf,
  revokedText,
} from "../../base/index.ts";
import { RpcError } from "../rpc/errors.ts";
import { fingerprintOf } from "./certificate-request.ts";
import { type ClusterIdentity, identityInNames } from "./cluster-identity.ts";

export interface AgentCertificate {
  readonly identity: ClusterIdentity;
  /** The fingerprint of the public key. */
  readonly fingerprint: string;
  /** ms since 1970. */
  readonly notAfter: number;
}

/** Parses a certificate that was verified against our authority; `undefined` for one that is not an agent's. */
export function parseAgentCertificate(certificate: PeerCertificate): AgentCertificate | undefined {
  const identity = identityInNames(certificate.subjectaltname);
  const notAfter = Date.parse(certificate.valid_to);
  if (identity === undefined || Number.isNaN(notAfter)) return undefined;
  const { publicKey } = new X509Certificate(certificate.raw);
  const fingerprint = fingerprintOf(publicKey.export({ format: "der", type: "spki" }));
  return { identity, fingerprint, notAfter };
}

export interface CallerInput {
  readonly certificate: AgentCertificate | undefined;
  readonly hubId: string;
  /** The Cluster that the certificate names, from the cache. */
  readonly cluster: Cluster | undefined;
  /** ms since 1970. */
  readonly now: number;
}

/** The error to reject a caller with; `undefined` when it is authorized. */
export function validateCaller({
  certificate,
  hubId,
  cluster,
  now,
}: CallerInput): RpcError | undefined {
  if (certificate === undefined) return noCertificate();
  const { identity, notAfter } = certificate;
  if (notAfter <= now) {
    return new RpcError(
      status.UNAUTHENTICATED,
      hubErrors.AGENT_UNKNOWN,
      `the agent's certificate expired at ${formatTimeMs(notAfter)}; enrol again`,
    );
  }
  if (identity.hubId !== hubId) {
    return new RpcError(
      status.UNAUTHENTICATED,
      hubErrors.AGENT_REJECTED,
      `the agent's certificate is for hub ${identity.hubId}, this is hub ${hubId}`,
    );
  }
  if (cluster?.metadata.uid === identity.uid) return validateAgent(certificate, cluster);
  const name = `${identity.namespace}/${identity.name}`;
  const what = cluster === undefined ? "does not exist" : "was deleted and created again";
  return rejected(`Cluster ${name} ${what} on this hub; enrol it again with a registration token`);
}

/** The error that ends an agent's authorization, checked at every call and whenever its Cluster changes; `undefined` while it is valid. */
export function validateAgent(
  { identity, fingerprint }: Pick<AgentCertificate, "identity" | "fingerprint">,
  cluster: Cluster | undefined,
): RpcError | undefined {
  const name = `${identity.namespace}/${identity.name}`;
  if (cluster?.metadata.uid !== identity.uid)
    return rejected(`Cluster ${name} was deleted on the hub`);
  // With deletion policy Uninstall the agent is needed until everything is uninstalled.
  if (cluster.metadata.deletionTimestamp !== undefined && !isBeingEmptied(cluster))
    return rejected(`Cluster ${name} is being deleted on this hub`);
  if (isManagedElsewhere(cluster)) return rejected(managedElsewhereText(cluster));
  const revocation = revocationOf(cluster);
  if (revocation !== undefined) return rejected(revokedText(name, revocation));
  const known = cluster.metadata.annotations?.[agentKeyAnnotation];
  if (known === fingerprint) return undefined;
  return rejected(
    known === undefined
      ? `Cluster ${name} is no longer enrolled with a key: its annotation ${agentKeyAnnotation} was removed`
      : `Cluster ${name} is now enrolled with another key`,
  );
}

function rejected(message: string): RpcError {
  return new RpcError(status.PERMISSION_DENIED, hubErrors.AGENT_REJECTED, message);
}

/** The error for a caller without a certificate of an agent. */
export function noCertificate(): RpcError {
  return new RpcError(
    status.UNAUTHENTICATED,
    hubErrors.AGENT_UNKNOWN,
    "no valid client certificate that this hub issued; enrol with a registration token of this hub",
  );
}
