/** What larger fleets would need, from what smaller ones cost. Pure. */
import { linearFit } from "./fit.ts";
import type { OneSize } from "./one-size.ts";
import type { TwoReplicas } from "./two-replicas.ts";

/** What one more cluster costs, and one more app on a cluster. */
export interface Costs {
  /** KiB of a replica of the hub: its caches, and the connection where it has the agent. */
  readonly hubBaseMb: number;
  readonly hubCacheKib: number;
  readonly hubAppKib: number;
  readonly connectionKib: number;
  readonly apiServerBaseMb: number;
  readonly apiServerKib: number;
  readonly apiServerAppKib: number;
  /** Bytes in etcd, without history. */
  readonly storedBytes: number;
  readonly storedAppBytes: number;
  /** What a change of one app for all adds as history, until etcd is compacted. */
  readonly historyBytes: number;
  /** ms of processor of a change of one app for all. */
  readonly leaderMs: number;
  readonly holderMs: number;
  readonly apiServerMs: number;
  readonly etcdMs: number;
}

/** A fleet to plan. */
export interface PlannedFleet {
  readonly clusters: number;
  readonly apps: number;
  /** Replicas of the hub; the leader has agents, too. */
  readonly replicas: number;
  /** Processors of the API server. */
  readonly apiServerProcessors: number;
}

export interface Need {
  readonly hubMb: number;
  readonly apiServerMb: number;
  readonly storedMb: number;
  /** Seconds that a change of one app for all takes each process at least. */
  readonly leaderSeconds: number;
  readonly apiServerSeconds: number;
  readonly etcdSeconds: number;
}

const kibPerMb = 1024;
const bytesPerMb = 1024 * 1024;

/**
 * `sizes`: fleets with one app; the costs are the slope over the numbers of clusters. `withApps`: a fleet with several, of as many
 * clusters as one of `sizes`.
 */
export function costsOf(
  sizes: readonly OneSize[],
  withApps: OneSize,
  { all: processor, memory, emptyMb, clusters: divided }: TwoReplicas,
): Costs {
  const like = sizes.find(({ clusters }) => clusters === withApps.clusters);
  if (like === undefined) throw new Error(`no fleet of ${withApps.clusters} clusters has one app`);
  const more = (withApps.apps - 1) * withApps.clusters;
  const slope = (read: (size: OneSize) => number) =>
    linearFit(sizes.map((size) => [size.clusters, read(size)]));
  const ofApps = (read: (size: OneSize) => number) => (read(withApps) - read(like)) / more;
  const apiServer = slope(({ memory: { "API server": mb } }) => mb);
  return {
    hubBaseMb: emptyMb,
    hubCacheKib: ((memory.leader - emptyMb) * kibPerMb) / divided,
    connectionKib: ((memory.holder - memory.leader) * kibPerMb) / divided,
    hubAppKib: ofApps((size) => size.memory.hub) * kibPerMb,
    apiServerBaseMb: apiServer.base,
    apiServerKib: apiServer.each * kibPerMb,
    apiServerAppKib: ofApps((size) => size.memory["API server"]) * kibPerMb,
    storedBytes: slope(({ storedBytes: { now } }) => now).each,
    storedAppBytes: ofApps(({ storedBytes: { now } }) => now),
    historyBytes: slope(({ storedBytes: { change } }) => change).each,
    leaderMs: processor.leader / divided,
    holderMs: processor.holder / divided,
    apiServerMs: slope(({ all }) => all.processor["API server"]).each,
    etcdMs: slope(({ all }) => all.processor.etcd).each,
  };
}

/** In proportion to the number of clusters, as the measured sizes are. */
export function needOf(
  costs: Costs,
  { clusters, apps, replicas, apiServerProcessors }: PlannedFleet,
): Need {
  const others = apps - 1;
  const share = clusters / replicas;
  return {
    hubMb:
      costs.hubBaseMb +
      (clusters * (costs.hubCacheKib + others * costs.hubAppKib) + share * costs.connectionKib) /
        kibPerMb,
    apiServerMb:
      costs.apiServerBaseMb +
      (clusters * (costs.apiServerKib + others * costs.apiServerAppKib)) / kibPerMb,
    storedMb:
      (clusters * (costs.storedBytes + others * costs.storedAppBytes + costs.historyBytes)) /
      bytesPerMb,
    leaderSeconds: (clusters * costs.leaderMs + share * costs.holderMs) / 1_000,
    apiServerSeconds: (clusters * costs.apiServerMs) / apiServerProcessors / 1_000,
    etcdSeconds: (clusters * costs.etcdMs) / 1_000,
  };
}
