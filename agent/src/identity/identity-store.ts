/** Keeps the agent's identity in a Secret of its own cluster. */
import { namespaces, type Secret, secrets } from "@flotilla/shared/kube/core-resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import {
  fromSecret,
  identitySecretName,
  type StoredIdentity,
  toSecretData,
} from "./agent-identity.ts";
import { type Bootstrap, bootstrapSecretName, parseBootstrap } from "./bootstrap.ts";

export interface IdentityStore {
  load(signal?: AbortSignal): Promise<StoredIdentity | undefined>;
  save(identity: StoredIdentity): Promise<void>;
  /** `undefined` when the Secret is not there. Throws BOOTSTRAP_INVALID. */
  bootstrap(signal?: AbortSignal): Promise<Bootstrap | undefined>;
  /** What the cluster calls itself unless it is given a name: the UID of its kube-system namespace. */
  clusterUid(signal?: AbortSignal): Promise<string>;
}

export function createIdentityStore(rest: KubeRest, namespace: string): IdentityStore {
  const ref = { namespace, name: identitySecretName };

  return {
    async load(signal) {
      const secret = await rest.get(secrets, ref, signal && { signal });
      return secret && fromSecret(secret);
    },
    async save(identity) {
      const current = await rest.get(secrets, ref);
      const secret: Secret = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: current?.metadata ?? ref,
        type: "Opaque",
        data: toSecretData(identity),
      };
      if (current === undefined) await rest.create(secrets, secret);
      else await rest.replace(secrets, secret);
    },
    async bootstrap(signal) {
      const secret = await rest.get(
        secrets,
        { namespace, name: bootstrapSecretName },
        signal && { signal },
      );
      return secret && parseBootstrap(secret);
    },
    async clusterUid(signal) {
      const system = await rest.get(namespaces, { name: "kube-system" }, signal && { signal });
      return system?.metadata.uid ?? "";
    },
  };
}
