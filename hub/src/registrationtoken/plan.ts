/** Plans the Secret and the status of one registration token. Pure. */

import type {
  ClusterRegistrationToken,
  ClusterRegistrationTokenStatus,
} from "@flotilla/shared/api";
import type { Secret } from "@flotilla/shared/kube/objects";
import { formatTime, parseGoDuration } from "@flotilla/shared/time";
import { type HubAddress, isCurrentFor, isFromEarlierToken, isOwnedBy, tokenIn } from "./secret.ts";

export type SecretStep =
  | { readonly kind: "none" }
  | { readonly kind: "create" }
  /** The address or the authorities of the hub have changed; the token stays. */
  | { readonly kind: "update"; readonly secret: Secret }
  /** The Secret of an earlier token of the same name. */
  | { readonly kind: "recreate"; readonly secret: Secret }
  | { readonly kind: "conflict" };

export type TokenPlan =
  | { readonly kind: "delete"; readonly expires: string }
  | {
      readonly kind: "keep";
      readonly secret: SecretStep;
      /** Present when it has to be written. */
      readonly status?: ClusterRegistrationTokenStatus;
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
  const { expires: _, ...others } = token.status ?? {};
  const status: ClusterRegistrationTokenStatus = {
    ...others,
    // Set only once the Secret exists.
    ...(step.kind !== "conflict" && { secretName: token.metadata.name }),
    ...(expiry !== undefined && { expires: formatTime(expiry) }),
  };
  const isChanged =
    status.secretName !== token.status?.secretName ||
    (status.expires ?? "") !== (token.status?.expires ?? "");
  return {
    kind: "keep",
    secret: step,
    ...(isChanged && { status }),
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
  return isCurrentFor(secret, hub) && tokenIn(secret) !== ""
    ? { kind: "none" }
    : { kind: "update", secret };
}
