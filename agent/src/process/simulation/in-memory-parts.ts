/** The parts of a simulated agent that use a cluster, in memory. */
import { randomUUID } from "node:crypto";
import { connectKube } from "@flotilla/shared/kube/client";
import type { SecretStorage, WatchClient } from "../../base/index.ts";
import type { EngineDeps } from "../../release/index.ts";
import type {
  AssignmentStorage,
  Bootstrap,
  IdentityStore,
  InventoryRequest,
  StoredIdentity,
} from "../../state/index.ts";

export function createMemoryIdentityStore(bootstrap: Bootstrap): IdentityStore {
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

/** Nothing is ever watched, so it opens no connection. */
export const noWatches: WatchClient = {
  subject: "the simulated agent",
  rest: connectKube({ server: "https://simulated.invalid", credentials: { kind: "none" } }),
  isPerNamespace: false,
};

/** Nothing changes simulated objects. */
export const noDrift: EngineDeps["drift"] = {
  track: () => undefined,
  suspend: () => undefined,
  forget: () => undefined,
  driftOf: () => undefined,
  onChange: () => undefined,
  compareFor: () => undefined,
  comparedFor: () => undefined,
  onCompared: () => undefined,
};

/** A simulated release is always as desired: each request of a user is answered as soon as it is accepted. */
export function createAnsweredRequests(): EngineDeps["requests"] {
  const requests = new Map<string, InventoryRequest>();
  return {
    handledRequestOf: () => undefined,
    requestOf: (id) => requests.get(id),
    acceptRequest(id, { token }) {
      requests.set(id, { token, result: { result: "InSync" } });
      return Promise.resolve();
    },
    answerRequest: () => Promise.resolve(),
  };
}

/** Stores nothing. */
export const noAssignmentStorage: AssignmentStorage = {
  load: () => Promise.resolve([]),
  store: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};

/** Stores nothing. */
export const noSecretStorage: SecretStorage = {
  list: () => Promise.resolve([]),
  write: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};
