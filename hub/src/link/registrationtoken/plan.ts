/** Plans the Secret and the status of one registration token. Pure. */

import type {
  ClusterRegistrationToken,
  ClusterRegistrationTokenStatus,
} from "@flotilla/shared/api";
import type { Secret } from "@flotilla/shared/kube/objects";
import { formatTime, parseGoDuration } from "@flotilla/shared/time";
import {
  type HubAddress,
  isCurrentFor,
  isFromEarlierToken,
  isOwnedBy,
  isWrittenByHub,
  tokenIn,
} from "./secret.ts";

export type SecretStep =
  | { readonly kind: "none" }
  | { readonly kind: "create" }
  /** The address or the authorities of the hub have changed; the token stays. */
  | { readonly kind: "update"; readonly secret: Secret }
  /** The Secret of an earlier token of the same name, or one that somebody else has made for this token: it gets a new value. */
  | { readonly kind: "recreate"; readonly secret: Secret }
  | { readonly kind: "conflict" };

export type TokenPlan =
  | { readonly kind: "delete"; readonly expires: string }
  | {
      readonly kind: "keep";
      readonly secret: SecretStep;
      /** With the UID of the Secret, which a write may change. */
      readonly status: ClusterRegistrationTokenStatus;
      /** Absent: it does not expire. */
      readonly expiresInMs?: number;
    };

export interface TokenInputs {
  readonly token: ClusterRegistrationToken;
  /** The Secret with the token's name. */
  readonly secret: Secret | undefined;
  readonly hub: HubAddress;
  /** ms since 1970. */
  readonly now: number;
}

export function planToken({ token, secret, hub, now }: TokenInputs): TokenPlan {
  const expiry = expiryOf(token);
  if (expiry !== undefined && expiry <= now) return { kind: "delete", expires: formatTime(expiry) };
  const step = secretStep(token, secret, hub);
  const { expires: _, secretName, secretUID, ...others } = token.status ?? {};
  const uid = step.kind === "none" || step.kind === "update" ? secret?.metadata.uid : undefined;
  const status: ClusterRegistrationTokenStatus = {
    ...others,
    // Set only once the Secret exists.
    ...(step.kind === "conflict"
      ? { ...(secretName !== undefined && { secretName }), ...(secretUID && { secretUID }) }
      : { secretName: token.metadata.name, ...(uid !== undefined && { secretUID: uid }) }),
    ...(expiry !== undefined && { expires: formatTime(expiry) }),
  };
  return {
    kind: "keep",
    secret: step,
    status,
    ...(expiry !== undefined && { expiresInMs: expiry - now }),
  };
}

/** When a token expires, in ms since 1970; `undefined`: never. Counted from its creation. */
export function expiryOf(token: ClusterRegistrationToken): number | undefined {
  const ttlMs = parseGoDuration(token.spec.ttl ?? "0");
  const createdAt = Date.parse(token.metadata.creationTimestamp ?? "");
  return ttlMs === undefined || ttlMs <= 0 || Number.isNaN(createdAt)
    ? undefined
    : createdAt + ttlMs;
}

function secretStep(
  token: ClusterRegistrationToken,
  secret: Secret | undefined,
  hub: HubAddress,
): SecretStep {
  if (secret === undefined) return { kind: "create" };
  if (isFromEarlierToken(secret, token)) return { kind: "recreate", secret };
  if (!isOwnedBy(secret, token)) return { kind: "conflict" };
  if (!isWrittenByHub(secret, token)) return { kind: "recreate", secret };
  return isCurrentFor(secret, hub) && tokenIn(secret) !== ""
    ? { kind: "none" }
    : { kind: "update", secret };
}
