/** Stores what the hub sends; the engine reconciles it. */
import type { DeploymentKey, LostContent } from "@flotilla/proto";
import type { Outbox } from "../../observe/index.ts";
import type {
  Assignments,
  ClusterInfoStore,
  Intake,
  Inventory,
  InventoryStore,
  ReferencedObjects,
  WithdrawnObjects,
} from "../../state/index.ts";
import type { Statuses } from "./statuses.ts";

export interface IntakeDeps {
  readonly assignments: Assignments;
  readonly inventory: Pick<Inventory, "releasesOf">;
  readonly documents: Pick<InventoryStore, "isComplete" | "setComplete">;
  readonly referenced: ReferencedObjects;
  readonly clusterInfo: ClusterInfoStore;
  readonly withdrawn: WithdrawnObjects;
  readonly outbox: Pick<Outbox, "withdrawn">;
  readonly statuses: Pick<Statuses, "states">;
}

type LostAssignment = Pick<LostContent, "deploymentId"> & Partial<LostContent>;

export function createIntake(deps: IntakeDeps): Intake {
  const {
    assignments,
    inventory,
    documents,
    referenced,
    clusterInfo,
    withdrawn,
    outbox,
    statuses,
  } = deps;

  /** What is known of a deployment whose assignment was lost; undefined: nothing of it is installed. */
  function findLost(
    { name, uid }: DeploymentKey,
    sent: LostContent | undefined,
  ): LostAssignment | undefined {
    // It has another UID: it was created again.
    if (assignments.get(name) !== undefined) return undefined;
    const release = inventory.releasesOf(name).find((each) => each.uid === uid);
    if (release !== undefined) return { deploymentId: release.deploymentId };
    return documents.isComplete ? undefined : sent;
  }

  return {
    deployments: assignments.observed,
    async assign(request) {
      const isStored = await assignments.assign(request);
      // The stored content may reference less than the one before. Until it is stored, a restart needs those objects.
      if (isStored) await withdrawn.removeUnreferenced();
      return isStored;
    },
    async withdraw(deployment, { lost, keepsRelease } = {}) {
      const result = await assignments.withdraw(deployment, keepsRelease);
      if (result !== "unknown") return result !== "not stored";
      const found = keepsRelease ? undefined : findLost(deployment, lost);
      if (found !== undefined)
        return (
          (await assignments.withdrawLost(deployment, found.deploymentId, found.content)) ===
          "stored"
        );
      outbox.withdrawn(deployment);
      return true;
    },
    synced: () => documents.setComplete(),
    clusterInfoDigest: () => clusterInfo.digest,
    setClusterInfo: clusterInfo.set,
    referencedObjects: referenced.observed,
    setReferencedObject(object) {
      withdrawn.cancel(object);
      return referenced.set(object);
    },
    withdrawReferencedObject: withdrawn.withdraw,
    states: () => statuses.states(),
  };
}
