/** What lets the agent of the hub's own cluster enrol: its registration token and its bootstrap Secret. Pure. */
import {
  apiVersion,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
} from "@flotilla/shared/api";
import { agentNamespace, bootstrapSecretName, localNamespace } from "@flotilla/shared/api/names";
import type { Secret } from "@flotilla/shared/kube/objects";

/** The name that Fleet gives the hub's own cluster. */
const clusterName = "local";

/** The value is the UID of the token that the Secret was made of. */
const tokenAnnotation = "flotilla.dev/registration-token-uid";

/** It is for this Cluster alone, and labels it as the ClusterGroup `default` of `fleet-local` selects it. */
export const localToken: ClusterRegistrationToken = {
  apiVersion,
  kind: clusterRegistrationTokens.kind,
  metadata: { namespace: localNamespace, name: clusterName },
  spec: { clusterName, labels: { name: clusterName } },
};

export type BootstrapStep =
  | { readonly kind: "none" }
  | { readonly kind: "create"; readonly secret: Secret }
  /** It is one of an earlier token, or with an earlier address of the hub. */
  | { readonly kind: "recreate"; readonly secret: Secret; readonly uid: string | undefined }
  /** Somebody else has made it, who enrols the cluster by hand. */
  | { readonly kind: "foreign" };

/**
 * `registration`: the Secret of the token, which the controller of tokens keeps up to date. `existing`: the bootstrap Secret of the
 * agent; one that the hub has not made is never changed.
 */
export function planBootstrap(
  token: ClusterRegistrationToken,
  registration: Secret,
  existing: Secret | undefined,
): BootstrapStep {
  const uid = token.metadata.uid ?? "";
  const data = { ...registration.data, clusterName: Buffer.from(clusterName).toString("base64") };
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: agentNamespace,
      name: bootstrapSecretName,
      annotations: { [tokenAnnotation]: uid },
    },
    type: "Opaque",
    data,
  };
  if (existing === undefined) return { kind: "create", secret };
  const madeOf = existing.metadata.annotations?.[tokenAnnotation];
  if (madeOf === undefined) return { kind: "foreign" };
  const isSame = Object.entries(data).every(([key, value]) => existing.data?.[key] === value);
  return madeOf === uid && isSame
    ? { kind: "none" }
    : { kind: "recreate", secret, uid: existing.metadata.uid };
}
