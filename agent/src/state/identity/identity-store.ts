/** Reads and writes the agent's identity in a Secret of its own cluster. */

import { bootstrapSecretName, identitySecretName } from "@flotilla/shared/api/names";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { namespaces, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { fromSecret, type StoredIdentity, toSecretData } from "./agent-identity.ts";
import { type Bootstrap, parseBootstrap } from "./bootstrap.ts";

export interface IdentityStore {
  load(signal?: AbortSignal): Promise<StoredIdentity | undefined>;
  save(identity: StoredIdentity): Promise<void>;
  /** `undefined` when the Secret is not there. Throws BOOTSTRAP_INVALID. */
  bootstrap(signal?: AbortSignal): Promise<Bootstrap | undefined>;
  /** Calls `onChange` for every change of that Secret, and once at the start, until `signal` aborts. Never rejects. */
  watchBootstrap(onChange: () => void, signal: AbortSignal): Promise<void>;
  /** The default client id of a cluster: the UID of its kube-system namespace. */
  clusterUid(signal?: AbortSignal): Promise<string>;
}

export function createIdentityStore(rest: KubeRest, namespace: string, log: Log): IdentityStore {
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
    async watchBootstrap(onChange, signal) {
      const informer = createInformer({
        rest,
        resource: secrets,
        namespace,
        fieldSelector: `metadata.name=${bootstrapSecretName}`,
        log,
      });
      informer.onChange(onChange);
      await informer.run(signal);
    },
    async clusterUid(signal) {
      const system = await rest.get(namespaces, { name: "kube-system" }, signal && { signal });
      return system?.metadata.uid ?? "";
    },
  };
}
