/** Messages for an enrolment that is rejected because of an existing Cluster: for the agent, and for an Event on the Cluster. Pure. */

import { newKeyRequiredTrailers } from "@flotilla/proto";
import type { Cluster } from "@flotilla/shared/api";
import { unreachable } from "@flotilla/shared/errors";
import { keyOf } from "@flotilla/shared/kube/objects";
import { status } from "@grpc/grpc-js";
import { hubErrors, managedElsewhereText, revocationOf, revokedText } from "../../base/index.ts";
import { RpcError } from "../rpc/errors.ts";
import type { RejectionReason } from "./choose-cluster.ts";
import type { TokenTerms } from "./token.ts";

export interface EnrolmentRejection {
  readonly answer: RpcError;
  /** For an Event on the Cluster, if it needs one. */
  readonly note?: string;
}

/** Patterns of names in one message. */
const maxListedNames = 5;

interface Rejected {
  readonly cluster: Cluster;
  readonly clientId: string;
  readonly token: TokenTerms | undefined;
}

export function rejectionFor(
  why: RejectionReason,
  { cluster, clientId, token }: Rejected,
): EnrolmentRejection {
  const name = keyOf(cluster);
  const dedicated = `create a ClusterRegistrationToken with spec.clusterName: ${cluster.metadata.name} and copy the content of its Secret into that agent's bootstrap Secret`;
  switch (why) {
    case "other-key":
      return {
        answer: denied(
          `client id ${clientId} is enrolled as Cluster ${name} with another key; if this is that cluster and its key is lost, ${dedicated}; otherwise give this cluster a clientID of its own there`,
        ),
        note: `rejected the enrolment of an agent with client id ${clientId}, whose key is not the one that this cluster is enrolled with; to let it take over this cluster, ${dedicated}`,
      };
    case "enrolled-elsewhere":
      return {
        answer: denied(
          `the registration token ${token?.name ?? ""} is for Cluster ${token?.clusterName ?? ""} only, and client id ${clientId} is enrolled as Cluster ${name}; delete that one first, or give this cluster a clientID of its own in its bootstrap Secret`,
        ),
      };
    case "deleting":
      return {
        answer: new RpcError(
          status.UNAVAILABLE,
          hubErrors.ENROLMENT_REJECTED,
          `Cluster ${name} of client id ${clientId} is being deleted; retry the enrolment after it is deleted`,
        ),
      };
    case "managed-elsewhere":
      return { answer: denied(managedElsewhereText(cluster)) };
    case "revoked": {
      const since = revokedSince(cluster);
      const older =
        token === undefined
          ? ""
          : `, and the registration token ${token.name} is older (created at ${token.createdAt})`;
      return {
        answer: denied(`${since}${older}; create a new ClusterRegistrationToken to enrol it again`),
        note: `rejected the enrolment of an agent with client id ${clientId}, because this cluster was revoked; to enrol it again, create a new ClusterRegistrationToken and copy the content of its Secret into the agent's bootstrap Secret`,
      };
    }
    case "revoked-key":
      return {
        answer: denied(
          `${revokedSince(cluster)}, and its key with it; the token is valid, but the agent needs a new key: it creates one by itself`,
          true,
        ),
      };
    default:
      return unreachable(why);
  }
}

/** The answer to an agent whose Cluster would have a name that its token does not allow. */
export function nameRejected(name: string, token: TokenTerms | undefined): RpcError {
  const allowed = token?.allowedClusterNames ?? [];
  const listed = allowed.slice(0, maxListedNames).join(", ");
  const more =
    allowed.length > maxListedNames ? ` and ${allowed.length - maxListedNames} more` : "";
  const names = allowed.length === 0 ? "none" : `${listed}${more}`;
  return denied(
    `the registration token ${token?.name ?? ""} does not allow the Cluster name ${name} (spec.allowedClusterNames: ${names}); set another clusterName in the agent's bootstrap Secret, or use another token`,
  );
}

function revokedSince(cluster: Cluster): string {
  const revocation = revocationOf(cluster);
  return revocation === undefined ? "" : revokedText(keyOf(cluster), revocation);
}

function denied(message: string, needsNewKey = false): RpcError {
  return new RpcError(status.PERMISSION_DENIED, hubErrors.ENROLMENT_REJECTED, message, {
    ...(needsNewKey && { trailers: newKeyRequiredTrailers() }),
  });
}
