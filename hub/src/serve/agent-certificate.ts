/** Who calls, by the verified certificate of the connection and nothing else. Pure. */
import type { PeerCertificate } from "node:tls";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { status } from "@grpc/grpc-js";
import { type ClusterIdentity, identityInNames } from "../identity/cluster-identity.ts";
import { RpcError, serveErrors } from "./errors.ts";

/** What grpc-js knows of a caller. It has a certificate only when that was verified against our authority. */
export interface AuthenticatedCall {
  getAuthContext(): { readonly sslPeerCertificate?: PeerCertificate };
}

export interface AgentCertificate {
  readonly identity: ClusterIdentity;
  /** ms since 1970. */
  readonly notAfter: number;
}

/** `undefined` for a caller without a certificate that this hub's authority issued to an agent. */
export function certificateOf(call: AuthenticatedCall): AgentCertificate | undefined {
  // Never the socket's own idea of the peer: that one is there for unverified certificates too.
  const certificate = call.getAuthContext().sslPeerCertificate;
  const identity = identityInNames(certificate?.subjectaltname);
  const notAfter = Date.parse(certificate?.valid_to ?? "");
  return identity === undefined || Number.isNaN(notAfter) ? undefined : { identity, notAfter };
}

/** The caller of a method that the interceptor let through. */
export function identityOf(call: AuthenticatedCall): AgentCertificate {
  const certificate = certificateOf(call);
  if (certificate === undefined) throw withoutCertificate();
  return certificate;
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
  const name = `${identity.namespace}/${identity.name}`;
  if (cluster?.metadata.uid !== identity.uid) {
    const what = cluster === undefined ? "does not exist" : "was made anew since it was enrolled";
    return refused(`Cluster ${name} ${what} on this hub; enrol it again with a registration token`);
  }
  return cluster.metadata.deletionTimestamp === undefined
    ? undefined
    : refused(`Cluster ${name} is being deleted on this hub`);
}

function refused(message: string): RpcError {
  return new RpcError(status.PERMISSION_DENIED, serveErrors.AGENT_REFUSED, message);
}

function withoutCertificate(): RpcError {
  return new RpcError(
    status.UNAUTHENTICATED,
    serveErrors.AGENT_UNKNOWN,
    "no certificate was shown that this hub issued and that is still good; enrol with a registration token of this hub",
  );
}
