/** Which objects on the hub a simulation created, and which conflict with a new simulation. Pure. */

import type { Cluster, ClusterRegistrationToken, HelmOp } from "@flotilla/shared/api";
import { simulatedLabel } from "@flotilla/shared/api/names";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { listNames } from "@flotilla/shared/text";
import { clientIdPrefix, clustersWithPrefix, numberedNames, simulationLabel } from "./plan.ts";

export interface SimulationObjects {
  readonly tokens: readonly ClusterRegistrationToken[];
  readonly helmOps: readonly HelmOp[];
  readonly clusters: readonly Cluster[];
}

/** What a new simulation is going to create. */
export interface SimulationRequest {
  readonly agents: number;
  /** How many HelmOps. */
  readonly bundles: number;
  /** Absent when the simulation creates a token. */
  readonly tokenSecret?: string;
}

/** The objects that simulations with this name created. */
export function ownedObjects(
  name: string,
  { tokens, helmOps, clusters }: SimulationObjects,
): SimulationObjects {
  const isLabelled = ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[simulatedLabel] === name;
  return {
    tokens: tokens.filter(isLabelled),
    helmOps: helmOps.filter(isLabelled),
    clusters: clustersWithPrefix(clientIdPrefix(name), clusters),
  };
}

/**
 * The objects that no simulation created and whose names a simulation with this name needs. Clusters with its label conflict,
 * too: the HelmOps of the simulation would target them.
 */
export function conflictingObjects(
  name: string,
  { agents, bundles, tokenSecret }: SimulationRequest,
  found: SimulationObjects,
): SimulationObjects {
  const owned = ownedObjects(name, found);
  const others = <T>(all: readonly T[], own: readonly T[]): readonly T[] => {
    const ownSet = new Set(own);
    return all.filter((object) => !ownSet.has(object));
  };
  const helmOpNames = new Set(numberedNames(name, bundles));
  const clusterNames = new Set(numberedNames(name, agents));
  return {
    tokens: others(found.tokens, owned.tokens).filter(
      ({ metadata }) => tokenSecret === undefined && metadata.name === name,
    ),
    helmOps: others(found.helmOps, owned.helmOps).filter(({ metadata }) =>
      helmOpNames.has(metadata.name),
    ),
    clusters: others(found.clusters, owned.clusters).filter(
      ({ metadata }) =>
        clusterNames.has(metadata.name) || metadata.labels?.[simulationLabel] === name,
    ),
  };
}

/** The kinds and names of the first objects in one line; "" without objects. */
export function describeObjects({ tokens, helmOps, clusters }: SimulationObjects): string {
  const all = [
    ...tokens.map(({ metadata }) => `ClusterRegistrationToken ${metadata.name}`),
    ...helmOps.map(({ metadata }) => `HelmOp ${metadata.name}`),
    ...clusters.map(({ metadata }) => `Cluster ${metadata.name}`),
  ];
  return listNames(all);
}
