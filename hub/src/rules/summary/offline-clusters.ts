/** The offline clusters of a Bundle, with their last state. Pure. */
import {
  type BundleDeployment,
  type Cluster,
  maxListed,
  type OfflineCluster,
} from "@flotilla/shared/api";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { clusterKeyOf, offlineSince } from "../../base/index.ts";
import type { BundleAggregate } from "./bundle-aggregate.ts";

export interface OfflineClusters {
  readonly total: number;
  /** By name, as many as a status lists. */
  readonly first: readonly OfflineCluster[];
}

/** As many as a sentence names. */
const mostNamed = 3;

export function listOffline(
  { offline }: Pick<BundleAggregate, "offline">,
  lookUp: (key: ObjectKey) => BundleDeployment | undefined,
  clusterOf: (deployment: BundleDeployment) => Cluster | undefined,
): OfflineClusters {
  const first = offline.first(maxListed).flatMap((key): readonly OfflineCluster[] => {
    const deployment = lookUp(key);
    if (deployment === undefined) return [];
    const since = offlineSince(clusterOf(deployment));
    return [{ name: clusterKeyOf(deployment), ...(since !== "" && { since }) }];
  });
  return { total: offline.size, first };
}

/** What a status has of them. */
export function offlineFields({ total, first }: OfflineClusters): {
  readonly offlineClusterCount?: number;
  readonly offlineClusters?: readonly OfflineCluster[];
} {
  return total === 0 ? {} : { offlineClusterCount: total, offlineClusters: first };
}

/** Remarks when all is ready. */
export function offlineRemark({ total, first }: OfflineClusters): readonly string[] {
  if (total === 0) return [];
  const named = first
    .slice(0, mostNamed)
    .map(({ name, since = "" }) => (since === "" ? name : `${name} (since ${since})`));
  const more = total > mostNamed ? ", …" : "";
  return [
    `${total === 1 ? "1 cluster is" : `${total} clusters are`} offline, as last reported: ${named.join(", ")}${more}`,
  ];
}
