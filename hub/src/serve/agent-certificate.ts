/** Who calls, by the verified certificate of the connection and nothing else, and whether that is still somebody. Pure. */
import { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { agentKeyAnnotation } from "@flotilla/shared/api/names.ts";
import { status } from "@grpc/grpc-js";
import { isBeingEmptied } from "../clusterstate/deletion.ts";
import { revocationOf, revokedText } from "../clusterstate/revocation.ts";
import { fingerprintOf } from "../identity/certificate-request.ts";
import { type ClusterIdentity, identityInNames } from "../identity/cluster-identity.ts";
import { RpcError, serveErrors } from "./errors.ts";

export interface AgentCertificate {
  readonly identity: ClusterIdentity;
  /** Of the key that the connection was made with. */
  readonly fingerprint: string;
  /** ms since 1970. */
  readonly notAfter: number;
}

/** What a certificate says that was verified against our authority; `undefined` for one that is no agent's. */
export function certificateOf(certificate: PeerCertificate): AgentCertificate | undefined {
  const identity = identityInNames(certificate.subjectaltname);
  const notAfter = Date.parse(certificate.valid_to);
  if (identity === undefined || Number.isNaN(notAfter)) return undefined;
  const { publicKey } = new X509Certificate(certificate.raw);
  const fingerprint = fingerprintOf(publicKey.export({ format: "der", type: "spki" }));
  return { identity, fingerprint, notAfter };
}

export interface Admission {
  readonly certificate: AgentCertificate | undefined;
  readonly hubId: string;
  /** The Cluster of the certificate's name, as the hub knows it now. */
  readonly cluster: Cluster | undefined;
  /** ms since 1970. */
  readonly now: number;
}

/** Why a caller is refused; `undefined` when it is not. */
export function refusalOf({ certificate, hubId, cluster, now }: Admission): RpcError | undefined {
  if (certificate === undefined) return withoutCertificate();
  const { identity, notAfter } = certificate;
  if (notAfter <= now) {
    return new RpcError(
      status.UNAUTHENTICATED,
      serveErrors.AGENT_UNKNOWN,
      `the agent's certificate ended at ${new Date(notAfter).toISOString()}; it has to enrol again`,
    );
  }
  if (identity.hubId !== hubId) {
    return new RpcError(
      status.UNAUTHENTICATED,
      serveErrors.AGENT_REFUSED,
      `the agent's certificate is for hub ${identity.hubId}, this is hub ${hubId}`,
    );
  }
  if (cluster?.metadata.uid === identity.uid) return lossOf(certificate, cluster);
  const name = `${identity.namespace}/${identity.name}`;
  const what = cluster === undefined ? "does not exist" : "was made anew since it was enrolled";
  return refused(`Cluster ${name} ${what} on this hub; enrol it again with a registration token`);
}

/**
 * Why an agent that was let in is no longer: asked again at every call and whenever its Cluster changes. `undefined` while
 * it is.
 */
export function lossOf(
  { identity, fingerprint }: Pick<AgentCertificate, "identity" | "fingerprint">,
  cluster: Cluster | undefined,
): RpcError | undefined {
  const name = `${identity.namespace}/${identity.name}`;
  if (cluster?.metadata.uid !== identity.uid)
    return refused(`Cluster ${name} was deleted on the hub`);
  // One that is emptied before it goes needs its agent for that.
  if (cluster.metadata.deletionTimestamp !== undefined && !isBeingEmptied(cluster))
    return refused(`Cluster ${name} is being deleted on this hub`);
  const revocation = revocationOf(cluster);
  if (revocation !== undefined) return refused(revokedText(name, revocation));
  const known = cluster.metadata.annotations?.[agentKeyAnnotation];
  if (known === fingerprint) return undefined;
  return refused(
    known === undefined
      ? `Cluster ${name} is enrolled with no key any more: its annotation ${agentKeyAnnotation} was removed`
      : `Cluster ${name} is enrolled with another key by now`,
  );
}

function refused(message: string): RpcError {
  return new RpcError(status.PERMISSION_DENIED, serveErrors.AGENT_REFUSED, message);
}

/** The refusal of whoever shows no certificate of an agent. */
export function withoutCertificate(): RpcError {
  return new RpcError(
    status.UNAUTHENTICATED,
    serveErrors.AGENT_UNKNOWN,
    "no certificate was shown that this hub issued and that is still good; enrol with a registration token of this hub",
  );
}
