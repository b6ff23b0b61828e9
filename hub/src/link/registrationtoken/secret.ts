/** The Secret of a registration token, which a user copies into a cluster so that its agent can enrol. Pure. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import {
  apiVersion,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
} from "@flotilla/shared/api";
import { registrationSecretType } from "@flotilla/shared/api/names";
import type { Secret } from "@flotilla/shared/kube/objects";

/** What the Secret has about the hub. */
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

/** The token in a Secret; "" when it has none. */
export function tokenIn(secret: Secret): string {
  return decode(secret.data?.[tokenSecretKeys.token]);
}

export function isCurrentFor(secret: Secret, hub: HubAddress): boolean {
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

/**
 * Whether the hub has created a token's Secret, and not somebody who may create Secrets and read the token's UID, and who then knows
 * the value. The status names it only once it exists. A hub that did not record the UID has recorded the name.
 */
export function isWrittenByHub(secret: Secret, { status }: ClusterRegistrationToken): boolean {
  if (status?.secretName === undefined) return false;
  return status.secretUID === undefined || status.secretUID === secret.metadata.uid;
}

/** Whether it belongs to an earlier token of this name, so that the garbage collector is about to delete it. */
export function isFromEarlierToken(secret: Secret, token: ClusterRegistrationToken): boolean {
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

const secretBytes = 32;

/**
 * A new value: the UID of its ClusterRegistrationToken, and a secret part. The UID finds the token, so the secret part is compared
 * once, in constant time.
 */
export function makeTokenValue(uid: string): string {
  return `${uid}.${randomBytes(secretBytes).toString("base64url")}`;
}

/** The UID of the ClusterRegistrationToken that a value claims; `undefined` when it is malformed. */
export function claimedUid(token: string): string | undefined {
  const dot = token.indexOf(".");
  return dot <= 0 || dot === token.length - 1 ? undefined : token.slice(0, dot);
}

/** In constant time. */
export function isSameToken(presented: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(presented), digest(expected)) && expected !== "";
}
