/** Of what is in a workspace on the hub: what a simulation made, and what is in the way of a new one. Pure. */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { simulatedLabel } from "@flotilla/shared/api/names.ts";
import type { KubeObject } from "@flotilla/shared/kube/objects/object.ts";
import { clientIdsOf, clustersOf, numbered, simulationLabel } from "./plan.ts";

export interface Found {
  readonly tokens: readonly ClusterRegistrationToken[];
  readonly helmOps: readonly HelmOp[];
  readonly clusters: readonly Cluster[];
}

/** What a simulation is about to make. */
export interface Wanted {
  readonly agents: number;
  /** HelmOps. */
  readonly bundles: number;
  /** Absent where a token is made. */
  readonly tokenSecret?: string;
}

/** What simulations of this name made, kept or not. */
export function madeUnder(name: string, { tokens, helmOps, clusters }: Found): Found {
  const isMarked = ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[simulatedLabel] === name;
  return {
    tokens: tokens.filter(isMarked),
    helmOps: helmOps.filter(isMarked),
    clusters: clustersOf(clientIdsOf(name), clusters),
  };
}

/**
 * What no simulation made and a simulation of this name would collide with. A Cluster with its label counts too: the
 * simulation's HelmOps would reach it.
 */
export function inTheWay(
  name: string,
  { agents, bundles, tokenSecret }: Wanted,
  found: Found,
): Found {
  const made = madeUnder(name, found);
  const others = <T>(all: readonly T[], own: readonly T[]): readonly T[] => {
    const known = new Set(own);
    return all.filter((object) => !known.has(object));
  };
  const helmOpNames = new Set(numbered(name, bundles));
  const clusterNames = new Set(numbered(name, agents));
  return {
    tokens: others(found.tokens, made.tokens).filter(
      ({ metadata }) => tokenSecret === undefined && metadata.name === name,
    ),
    helmOps: others(found.helmOps, made.helmOps).filter(({ metadata }) =>
      helmOpNames.has(metadata.name),
    ),
    clusters: others(found.clusters, made.clusters).filter(
      ({ metadata }) =>
        clusterNames.has(metadata.name) || metadata.labels?.[simulationLabel] === name,
    ),
  };
}

const namesTold = 3;

/** In one line; "" where there is nothing. */
export function describeFound({ tokens, helmOps, clusters }: Found): string {
  const all = [
    ...tokens.map(({ metadata }) => `ClusterRegistrationToken ${metadata.name}`),
    ...helmOps.map(({ metadata }) => `HelmOp ${metadata.name}`),
    ...clusters.map(({ metadata }) => `Cluster ${metadata.name}`),
  ];
  const more = all.length - namesTold;
  return `${all.slice(0, namesTold).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
