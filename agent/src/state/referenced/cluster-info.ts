/** The cluster's labels and template values, as the hub sent them, stored in the cluster. */
import type { Packed } from "@flotilla/shared/content";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { type ClusterInfo, unpackClusterInfo } from "@flotilla/shared/referenced";
import type { SecretStorage } from "../../base/index.ts";
import { clusterInfoSecret, clusterInfoSelector, packedIn } from "./referenced-secret.ts";

/** `set` must not be called concurrently. */
export interface ClusterInfoStore {
  /** Reads the stored cluster info. Must be called once, before all other methods. */
  load(): Promise<void>;
  /** The digest of what is stored; `undefined` if that is not the last version that was received. */
  readonly digest: string | undefined;
  /** `undefined` before it was received. */
  get(): ClusterInfo | undefined;
  /** Takes effect at once; the result is whether it could be stored. Idempotent. Throws REFERENCED_OBJECT_INVALID. */
  set(packed: Packed): Promise<boolean>;
  onChange(listener: () => void): void;
}

export interface ClusterInfoStoreDeps {
  readonly secrets: SecretStorage;
  readonly log: Log;
}

export function createClusterInfoStore({ secrets, log }: ClusterInfoStoreDeps): ClusterInfoStore {
  const listeners: (() => void)[] = [];
  let current: { readonly digest: string; readonly info: ClusterInfo } | undefined;
  let storedDigest: string | undefined;

  return {
    async load() {
      const [secret] = await secrets.list(clusterInfoSelector);
      const packed = secret && packedIn(secret);
      if (packed === undefined) return;
      try {
        current = { digest: packed.digest, info: await unpackClusterInfo(packed) };
        storedDigest = packed.digest;
      } catch (thrown) {
        log.warn({ err: messageOf(thrown) }, "stored cluster info is not readable");
      }
    },
    get digest() {
      return storedDigest;
    },
    get: () => current?.info,
    async set(packed) {
      if (current?.digest !== packed.digest) {
        current = { digest: packed.digest, info: await unpackClusterInfo(packed) };
        storedDigest = undefined;
        for (const listener of listeners) listener();
      }
      if (storedDigest === packed.digest) return true;
      try {
        await secrets.write(clusterInfoSecret(packed));
      } catch (thrown) {
        log.warn({ err: messageOf(thrown) }, "cluster info was not stored");
        return false;
      }
      storedDigest = packed.digest;
      return true;
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
