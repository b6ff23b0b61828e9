/** The Secret of a registration token: what somebody copies into a cluster so that its agent can enrol. Pure. */

import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import { registrationSecretType } from "@flotilla/shared/api/names.ts";
import { apiVersion, clusterRegistrationTokens } from "@flotilla/shared/api/resources.ts";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";

/** What the Secret tells an agent about the hub. */
export interface HubAddress {
  /** `host:port` of the gRPC port, as agents reach it. */
  readonly address: string;
  readonly authoritiesPem: string;
}

export const tokenSecretKeys = {
  address: "address",
  authorities: "ca.crt",
  token: "token",
} as const;

export function tokenSecret(
  token: ClusterRegistrationToken,
  hub: HubAddress,
  value: string,
): Secret {
  const { name, namespace = "", uid = "" } = token.metadata;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace,
      ownerReferences: [
        { apiVersion, kind: clusterRegistrationTokens.kind, name, uid, controller: true },
      ],
    },
    type: registrationSecretType,
    data: {
      [tokenSecretKeys.address]: encode(hub.address),
      [tokenSecretKeys.authorities]: encode(hub.authoritiesPem),
      [tokenSecretKeys.token]: encode(value),
    },
  };
}

/** The token that a Secret holds; "" when it holds none. */
export function tokenIn(secret: Secret): string {
  return decode(secret.data?.[tokenSecretKeys.token]);
}

export function isForHub(secret: Secret, hub: HubAddress): boolean {
  const { data } = secret;
  return (
    decode(data?.[tokenSecretKeys.address]) === hub.address &&
    decode(data?.[tokenSecretKeys.authorities]) === hub.authoritiesPem
  );
}

export function isOwnedBy(secret: Secret, token: ClusterRegistrationToken): boolean {
  return (secret.metadata.ownerReferences ?? []).some(
    (owner) => owner.kind === clusterRegistrationTokens.kind && owner.uid === token.metadata.uid,
  );
}

/** Whether it was made for a token of this name that is gone: the garbage collector is about to delete it. */
export function isLeftOver(secret: Secret, token: ClusterRegistrationToken): boolean {
  return (
    secret.type === registrationSecretType &&
    (secret.metadata.ownerReferences ?? []).some(
      (owner) =>
        owner.kind === clusterRegistrationTokens.kind &&
        owner.name === token.metadata.name &&
        owner.uid !== token.metadata.uid,
    )
  );
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}

function decode(text: string | undefined): string {
  return Buffer.from(text ?? "", "base64").toString();
}
