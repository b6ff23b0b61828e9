/** What the hub says that this cluster is, kept in the cluster itself. */

import type { Packed } from "@flotilla/shared/content/packed.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { type ClusterInfo, unpackClusterInfo } from "@flotilla/shared/referenced/cluster-info.ts";
import type { OwnSecrets } from "../storage/own-secrets.ts";
import { factsSecret, factsSelector, packedIn } from "./supply-secret.ts";

/** Calls of `take` are made one after the other. */
export interface Facts {
  /** Reads what is stored. To be called once, before anything else. */
  load(): Promise<void>;
  /** Of what is stored; `undefined` where that is not what was heard last. */
  readonly digest: string | undefined;
  /** `undefined`: nothing was heard yet. */
  get(): ClusterInfo | undefined;
  /** Known at once; gives whether it could be stored. Redelivery changes nothing. Throws REFERENCED_OBJECT_INVALID. */
  take(packed: Packed): Promise<boolean>;
  onChange(listener: () => void): void;
}

export interface FactsDeps {
  readonly own: OwnSecrets;
  readonly log: Log;
}

export function createFacts({ own, log }: FactsDeps): Facts {
  const listeners: (() => void)[] = [];
  let known: { readonly digest: string; readonly facts: ClusterInfo } | undefined;
  let storedDigest: string | undefined;

  return {
    async load() {
      const [secret] = await own.list(factsSelector);
      const packed = secret && packedIn(secret);
      if (packed === undefined) return;
      try {
        known = { digest: packed.digest, facts: await unpackClusterInfo(packed) };
        storedDigest = packed.digest;
      } catch (thrown) {
        log.warn({ err: messageOf(thrown) }, "stored facts of the cluster are not readable");
      }
    },
    get digest() {
      return storedDigest;
    },
    get: () => known?.facts,
    async take(packed) {
      if (known?.digest !== packed.digest) {
        known = { digest: packed.digest, facts: await unpackClusterInfo(packed) };
        storedDigest = undefined;
        for (const listener of listeners) listener();
      }
      if (storedDigest === packed.digest) return true;
      try {
        await own.write(factsSecret(packed));
      } catch (thrown) {
        log.warn({ err: messageOf(thrown) }, "facts of the cluster were not stored");
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
