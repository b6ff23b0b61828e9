/** The part of a status that HelmOps, Bundles and Clusters share. Pure. */
import type { BundleSummary, OfflineCluster, ResourceCounts } from "@flotilla/shared/api";
import type { Aggregate } from "./bundle-aggregate.ts";
import { type OfflineClusters, offlineFields } from "./offline-clusters.ts";
import { countsText, worstState } from "./summarize.ts";

export interface RolledUp {
  readonly summary: BundleSummary;
  readonly resourceCounts: ResourceCounts;
  readonly readyClusters: number;
  readonly desiredReadyClusters: number;
  readonly offlineClusterCount?: number;
  readonly offlineClusters?: readonly OfflineCluster[];
  readonly display: {
    readonly readyBundleDeployments: string;
    readonly counts?: string;
    readonly state?: string;
    readonly message?: string;
    readonly error?: boolean;
  };
}

/** One Bundle has at most one BundleDeployment in a cluster, so clusters are counted as BundleDeployments are. */
export function rollUp(
  summary: BundleSummary,
  aggregate: Aggregate,
  offline: OfflineClusters,
): RolledUp {
  const state = worstState(summary);
  const counts = countsText(summary);
  const message =
    summary.nonReadyResources?.find((resource) => resource.bundleState === state)?.message ?? "";
  return {
    summary,
    resourceCounts: { ...aggregate.resources },
    readyClusters: summary.ready,
    desiredReadyClusters: summary.desiredReady,
    ...offlineFields(offline),
    display: {
      readyBundleDeployments: `${summary.ready}/${summary.desiredReady}`,
      ...(counts !== "" && { counts }),
      ...(state !== "" && { state }),
      ...(message !== "" && { message, ...(state !== "Offline" && { error: true }) }),
    },
  };
}
