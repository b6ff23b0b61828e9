/** Stores what the hub sends; the engine reconciles it. */
import type { Assignments, Intake } from "../assignment/index.ts";
import type { ClusterInfoStore, ReferencedObjects, WithdrawnObjects } from "../referenced/index.ts";
import type { Outbox } from "../report/index.ts";
import type { Statuses } from "./statuses.ts";

export interface IntakeDeps {
  readonly assignments: Assignments;
  readonly referenced: ReferencedObjects;
  readonly clusterInfo: ClusterInfoStore;
  readonly withdrawn: WithdrawnObjects;
  readonly outbox: Pick<Outbox, "withdrawn">;
  readonly statuses: Pick<Statuses, "states">;
}

export function createIntake(deps: IntakeDeps): Intake {
  const { assignments, referenced, clusterInfo, withdrawn, outbox, statuses } = deps;
  return {
    inventory: assignments.inventory,
    async assign(request) {
      const isStored = await assignments.assign(request);
      // The stored content may reference less than the one before. Until it is stored, a restart needs those objects.
      if (isStored) await withdrawn.removeUnreferenced();
      return isStored;
    },
    async withdraw(deployment) {
      const result = await assignments.withdraw(deployment);
      if (result === "unknown") outbox.withdrawn(deployment);
      return result !== "not stored";
    },
    clusterInfoDigest: () => clusterInfo.digest,
    setClusterInfo: clusterInfo.set,
    referencedObjects: referenced.inventory,
    setReferencedObject(object) {
      withdrawn.cancel(object);
      return referenced.set(object);
    },
    withdrawReferencedObject: withdrawn.withdraw,
    states: statuses.states,
  };
}
