/** Stores what the hub sends; the engine reconciles it. */
import type { DeploymentKey } from "@flotilla/proto";
import type { Assignments, Intake } from "../assignment/index.ts";
import type { Inventory, InventoryRelease } from "../inventory/index.ts";
import type { ClusterInfoStore, ReferencedObjects, WithdrawnObjects } from "../referenced/index.ts";
import type { Outbox } from "../report/index.ts";
import type { Statuses } from "./statuses.ts";

export interface IntakeDeps {
  readonly assignments: Assignments;
  readonly inventory: Pick<Inventory, "releasesOf">;
  /** Enters releases of a withdrawn deployment into the inventory if the agent has lost it, for a hub that sends no content. */
  readonly recoverLost: (deployment: DeploymentKey) => Promise<void>;
  /** See DeployerDeps. */
  readonly hasLostAll: () => boolean;
  readonly referenced: ReferencedObjects;
  readonly clusterInfo: ClusterInfoStore;
  readonly withdrawn: WithdrawnObjects;
  readonly outbox: Pick<Outbox, "withdrawn">;
  readonly statuses: Pick<Statuses, "states">;
}

export function createIntake(deps: IntakeDeps): Intake {
  const {
    assignments,
    inventory,
    recoverLost,
    hasLostAll,
    referenced,
    clusterInfo,
    withdrawn,
    outbox,
    statuses,
  } = deps;

  /** A release of a deployment whose assignment was lost. */
  function lostRelease({ name, uid }: DeploymentKey): InventoryRelease | undefined {
    if (assignments.get(name) !== undefined) return undefined;
    return inventory.releasesOf(name).find((release) => release.uid === uid);
  }

  /** The inventory does not say that nothing is installed. */
  function mustLookFor(deployment: DeploymentKey): boolean {
    return (
      hasLostAll() &&
      assignments.get(deployment.name) === undefined &&
      lostRelease(deployment) === undefined
    );
  }

  return {
    inventory: assignments.inventory,
    async assign(request) {
      const isStored = await assignments.assign(request);
      // The stored content may reference less than the one before. Until it is stored, a restart needs those objects.
      if (isStored) await withdrawn.removeUnreferenced();
      return isStored;
    },
    async withdraw(deployment, lost) {
      const result = await assignments.withdraw(deployment);
      if (result !== "unknown") return result !== "not stored";
      if (lost !== undefined && mustLookFor(deployment)) {
        const { deploymentId, content } = lost;
        return (await assignments.withdrawLost(deployment, deploymentId, content)) === "stored";
      }
      await recoverLost(deployment);
      const release = lostRelease(deployment);
      if (release !== undefined)
        return (await assignments.withdrawLost(deployment, release.deploymentId)) === "stored";
      outbox.withdrawn(deployment);
      return true;
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
