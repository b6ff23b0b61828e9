/** Authorizes an enrolment: by a registration token, or by the key of a Cluster that is already enrolled. */
import type { EnrollRequest } from "@flotilla/proto";
import type { Cluster, ClusterRegistrationToken } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { secrets } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import { status } from "@grpc/grpc-js";
import { agentKeyIndex, tokenUidIndex } from "../cache/index.ts";
import type { RequestedKey } from "../identity/index.ts";
import { claimedUid, tokenIn } from "../registrationtoken/index.ts";
import { RpcError } from "../rpc/index.ts";
import { enrollErrors } from "./errors.ts";
import { type TokenTerms, type TokenValidation, validateToken } from "./token.ts";

export interface AuthorizationDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  readonly tokens: Store<ClusterRegistrationToken>;
  readonly clock: Clock;
}

export interface EnrolmentAuthorization {
  /** Of the Cluster. */
  readonly namespace: string;
  /** `undefined` where the key alone authorizes the enrolment. */
  readonly token: TokenTerms | undefined;
}

/**
 * The key of an enrolled Cluster is accepted like a token for that Cluster: an agent that was disconnected until its
 * certificate expired can enrol again with an expired token. Throws TOKEN_REJECTED.
 */
export async function authorizeEnrolment(
  deps: AuthorizationDeps,
  request: EnrollRequest,
  key: RequestedKey,
): Promise<EnrolmentAuthorization> {
  const validation = await validatePresented(deps, request.token);
  if (validation.kind === "valid")
    return { namespace: validation.token.namespace, token: validation.token };
  const known = deps.clusters
    .byIndex(agentKeyIndex, key.fingerprint)
    .find(({ spec }) => spec.clientID === request.clientId);
  if (known?.metadata.namespace !== undefined)
    return { namespace: known.metadata.namespace, token: undefined };
  const message = request.token === "" ? unknownKey : invalidToken(validation);
  throw new RpcError(status.UNAUTHENTICATED, enrollErrors.TOKEN_REJECTED, message);
}

async function validatePresented(
  { rest, tokens, clock }: AuthorizationDeps,
  presented: string,
): Promise<TokenValidation> {
  const uid = claimedUid(presented);
  const [token] = uid === undefined ? [] : tokens.byIndex(tokenUidIndex, uid);
  const expected = token === undefined ? "" : await storedToken(rest, token);
  return validateToken({ presented, token, expected, now: clock.now() });
}

async function storedToken(
  rest: Pick<KubeRest, "get">,
  { metadata, status: tokenStatus }: ClusterRegistrationToken,
): Promise<string> {
  const { name, namespace = "" } = metadata;
  const secret = await rest.get(secrets, { namespace, name: tokenStatus?.secretName ?? name });
  return secret === undefined ? "" : tokenIn(secret);
}

const remedy =
  "create a new ClusterRegistrationToken on the hub and copy the content of its Secret into the agent's bootstrap Secret";
const unknownKey = `no Cluster of this hub is enrolled with the agent's key; ${remedy}`;

function invalidToken(validation: Exclude<TokenValidation, { kind: "valid" }>): string {
  return validation.kind === "expired"
    ? `the registration token ${validation.name} expired at ${validation.expiredAt}; ${remedy}`
    : `the registration token is not one of this hub, or it expired and was deleted; ${remedy}`;
}
