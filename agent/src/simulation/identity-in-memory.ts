/** An agent's identity that lasts as long as the process: there is no cluster to keep it in. */
import { randomUUID } from "node:crypto";
import type { StoredIdentity } from "../identity/agent-identity.ts";
import type { Bootstrap } from "../identity/bootstrap.ts";
import type { IdentityStore } from "../identity/identity-store.ts";

export function createIdentityInMemory(bootstrap: Bootstrap): IdentityStore {
  const uid = randomUUID();
  let stored: StoredIdentity | undefined;
  return {
    load: () => Promise.resolve(stored),
    save(identity) {
      stored = identity;
      return Promise.resolve();
    },
    bootstrap: () => Promise.resolve(bootstrap),
    // It never changes.
    watchBootstrap: () => Promise.resolve(),
    clusterUid: () => Promise.resolve(uid),
  };
}
