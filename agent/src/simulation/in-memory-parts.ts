/** The parts of a simulated agent that use a cluster, in memory. */
import { randomUUID } from "node:crypto";
import { connectKube } from "@flotilla/shared/kube/client";
import type { AssignmentStorage } from "../assignment/index.ts";
import type { EngineDeps } from "../engine/index.ts";
import type { Bootstrap, IdentityStore, StoredIdentity } from "../identity/index.ts";
import type { WatchClient } from "../impersonation/index.ts";
import type { Readiness } from "../readiness/index.ts";
import type { SecretStorage } from "../storage/index.ts";

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

/** All objects are ready at once. */
export function createSimulatedReadiness(): EngineDeps["readiness"] {
  const tracked = new Map<string, Readiness>();
  return {
    track(name, objects, { namespace }) {
      const count = objects.length;
      tracked.set(name, {
        ready: true,
        notReady: [],
        resources: objects.map((object) => ({ namespace, ...object, state: "ready" })),
        incomplete: false,
        counts: { desiredReady: count, ready: count, notReady: 0, missing: 0, unknown: 0 },
      });
    },
    forget: (name) => void tracked.delete(name),
    readinessOf: (name) => tracked.get(name),
    onChange: () => undefined,
  };
}

/** Nothing changes simulated objects. */
export const noDrift: EngineDeps["drift"] = {
  track: () => undefined,
  suspend: () => undefined,
  forget: () => undefined,
  driftOf: () => undefined,
  onChange: () => undefined,
};

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
