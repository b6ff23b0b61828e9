/** Authorizes an enrolment: by a registration token, or by the key of a Cluster that is already enrolled. */

import type { EnrollRequest } from "@flotilla/proto";
import type { Cluster, ClusterRegistrationToken } from "@flotilla/shared/api";
import { createLruCache } from "@flotilla/shared/cache";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { secrets } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import { status } from "@grpc/grpc-js";
import { agentKeyIndex, anyClientIdIndex, hubErrors, tokenUidIndex } from "../../base/index.ts";
import type { RequestedKey } from "../identity/certificate-request.ts";
import { claimedUid, isWrittenByHub, tokenIn } from "../registrationtoken/secret.ts";
import { RpcError } from "../rpc/errors.ts";
import { type TokenTerms, type TokenValidation, validateToken } from "./token.ts";

export interface AuthorizationDeps {
  /** The token that a ClusterRegistrationToken stands for; "" without its Secret. */
  readonly storedToken: (token: ClusterRegistrationToken) => Promise<string>;
  readonly clusters: Store<Cluster>;
  readonly tokens: Store<ClusterRegistrationToken>;
  readonly clock: Clock;
}

export interface EnrolmentAuthorization {
  /** The namespace of the Cluster. */
  readonly namespace: string;
  /** `undefined` where the key alone authorizes the enrolment. */
  readonly token: TokenTerms | undefined;
  readonly key: RequestedKey;
}

/**
 * The key of an enrolled Cluster is accepted like a token for that Cluster: an agent that was disconnected until its
 * certificate expired can enrol again with an expired token. Throws TOKEN_REJECTED. `readKey`: verifies the certificate request,
 * which costs a thousand times what the rest does, so it is not called for requests that no key can authorize.
 */
export async function authorizeEnrolment(
  deps: AuthorizationDeps,
  request: EnrollRequest,
  readKey: () => Promise<RequestedKey>,
): Promise<EnrolmentAuthorization> {
  const validation = await validatePresented(deps, request.token);
  if (validation.kind === "valid") {
    const { token } = validation;
    return { namespace: token.namespace, token, key: await readKey() };
  }
  if (deps.clusters.byIndex(anyClientIdIndex, request.clientId).length > 0) {
    const key = await readKey();
    const known = deps.clusters
      .byIndex(agentKeyIndex, key.fingerprint)
      .find(({ spec }) => spec.clientID === request.clientId);
    if (known?.metadata.namespace !== undefined)
      return { namespace: known.metadata.namespace, token: undefined, key };
  }
  const message = request.token === "" ? unknownKey : invalidToken(validation);
  throw new RpcError(status.UNAUTHENTICATED, hubErrors.TOKEN_REJECTED, message);
}

async function validatePresented(
  { storedToken, tokens, clock }: AuthorizationDeps,
  presented: string,
): Promise<TokenValidation> {
  const uid = claimedUid(presented);
  const [token] = uid === undefined ? [] : tokens.byIndex(tokenUidIndex, uid);
  const expected = token === undefined ? "" : await storedToken(token);
  return validateToken({ presented, token, expected, now: clock.now() });
}

/** How long a token that was read is used: a request with a wrong one costs the API server nothing for as long. */
const storedForMs = 1_000;
const maxStored = 1_000;

/** Reads the tokens in the Secrets of ClusterRegistrationTokens, each once a second at most. */
export function createStoredTokens(
  rest: Pick<KubeRest, "get">,
  clock: Pick<Clock, "monotonic">,
): (token: ClusterRegistrationToken) => Promise<string> {
  const known = createLruCache<{ readonly readAt: number; readonly token: Promise<string> }>(
    maxStored,
  );
  return (registration) => {
    const { metadata, status: tokenStatus } = registration;
    const { name, namespace = "", uid = "" } = metadata;
    const latest = known.get(uid);
    if (latest !== undefined && clock.monotonic() - latest.readAt < storedForMs)
      return latest.token;
    const ref = { namespace, name: tokenStatus?.secretName ?? name };
    const token = rest
      .get(secrets, ref)
      // Who made another one knows its value.
      .then((secret) => (secret && isWrittenByHub(secret, registration) ? tokenIn(secret) : ""));
    known.set(uid, { readAt: clock.monotonic(), token });
    token.catch(() => known.delete(uid));
    return token;
  };
}

const remedy =
  "create a new ClusterRegistrationToken on the hub and copy the content of its Secret into the agent's bootstrap Secret";
const unknownKey = `no Cluster of this hub is enrolled with the agent's key; ${remedy}`;

function invalidToken(validation: Exclude<TokenValidation, { kind: "valid" }>): string {
  return validation.kind === "expired"
    ? `the registration token ${validation.name} expired at ${validation.expiredAt}; ${remedy}`
    : `the registration token is not one of this hub, or it expired and was deleted; ${remedy}`;
}
