/** What an agent observes of the objects of releases, as a test says it. */
import type { ObjectDrift } from "../../../observe/drift/drift.ts";
import type { DeployerDeps } from "../deploy.ts";
import type { StatusesDeps } from "../statuses.ts";

/** By the ids of releases. */
export interface ObservedObjects {
  /** Whether the objects of a release become ready. */
  isReady: boolean;
  /** Those whose objects do not, whatever `isReady` says. */
  readonly unready: Set<string>;
  /** Those with an object that others have changed, until that is corrected. */
  readonly drifted: Set<string>;
}

/** Each comparison is done at once. */
export function createDrift({
  drifted,
}: ObservedObjects): DeployerDeps["drift"] & StatusesDeps["drift"] & { compareFor(): void } {
  return {
    track: () => undefined,
    forget: () => undefined,
    suspend: () => undefined,
    correct(id) {
      drifted.delete(id);
      return Promise.resolve();
    },
    compareFor: () => undefined,
    comparedFor: () => ({ isCorrected: true, corrected: 0 }),
    driftOf(id) {
      const objects = drifted.has(id) ? [changedObject] : [];
      return {
        ...{ mode: "enabled", isChosen: true, objects, foreign: [], history: [], backedOff: [] },
        ...{ failures: [], correctable: objects, corrects: objects.length > 0, uncompared: [] },
      };
    },
  };
}

const changedObject: ObjectDrift = {
  object: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "app" },
  ...{ what: "changed", fields: [{ pointer: "/data/a" }] },
};

export function createReadiness(cluster: ObservedObjects): StatusesDeps["readiness"] {
  const counts = { desiredReady: 1, ready: 1, notReady: 0, missing: 0, unknown: 0 };
  return {
    track: () => undefined,
    forget: () => undefined,
    sharedObjectsOf: () => [],
    readinessOf: (id) => ({
      ...{
        ready: cluster.isReady && !cluster.unready.has(id),
        notReady: [],
        resources: [],
        incomplete: false,
        counts,
      },
    }),
  };
}
