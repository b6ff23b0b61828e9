/** What is to be done about one registration token. Pure. */
import type {
  ClusterRegistrationToken,
  ClusterRegistrationTokenStatus,
} from "@flotilla/shared/api/cluster-registration-token.ts";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import { parseGoDuration } from "@flotilla/shared/time/go-duration.ts";
import { type HubAddress, isForHub, isLeftOver, isOwnedBy, tokenIn } from "./token-secret.ts";

export type SecretStep =
  | { readonly kind: "none" }
  | { readonly kind: "create" }
  /** Keeps the token: only where the hub is has changed. */
  | { readonly kind: "update"; readonly secret: Secret }
  /** Of an earlier token of the same name. */
  | { readonly kind: "recreate"; readonly secret: Secret }
  | { readonly kind: "taken" };

export type TokenPlan =
  | { readonly kind: "delete"; readonly expires: string }
  | {
      readonly kind: "keep";
      readonly secret: SecretStep;
      /** Present when the status says something else. */
      readonly status?: ClusterRegistrationTokenStatus;
      /** How long it is still good for; absent: for ever. */
      readonly endsInMs?: number;
    };

export interface TokenInputs {
  readonly token: ClusterRegistrationToken;
  /** The Secret of the token's name, where there is one. */
  readonly secret: Secret | undefined;
  readonly hub: HubAddress;
  /** ms since 1970. */
  readonly now: number;
}

export function planToken({ token, secret, hub, now }: TokenInputs): TokenPlan {
  const endsAt = endOf(token);
  if (endsAt !== undefined && endsAt <= now) return { kind: "delete", expires: toTime(endsAt) };
  const step = secretStep(token, secret, hub);
  const { expires: _, ...others } = token.status ?? {};
  const status: ClusterRegistrationTokenStatus = {
    ...others,
    // The name stands there once the Secret does, so that whoever waits for the one finds the other.
    ...(step.kind !== "taken" && { secretName: token.metadata.name }),
    ...(endsAt !== undefined && { expires: toTime(endsAt) }),
  };
  const isNews =
    status.secretName !== token.status?.secretName ||
    (status.expires ?? "") !== (token.status?.expires ?? "");
  return {
    kind: "keep",
    secret: step,
    ...(isNews && { status }),
    ...(endsAt !== undefined && { endsInMs: endsAt - now }),
  };
}

/** When a token ends, in ms since 1970; `undefined`: never. Counted from its creation. */
export function endOf(token: ClusterRegistrationToken): number | undefined {
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
  if (isLeftOver(secret, token)) return { kind: "recreate", secret };
  if (!isOwnedBy(secret, token)) return { kind: "taken" };
  return isForHub(secret, hub) && tokenIn(secret) !== ""
    ? { kind: "none" }
    : { kind: "update", secret };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
