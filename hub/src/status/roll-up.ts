/** The part of a status that HelmOps, Bundles and Clusters share. Pure. */
import type { BundleSummary, ResourceCounts } from "@flotilla/shared/api/summary.ts";
import { worstState } from "../rollup/summarize.ts";
import type { Tally } from "../rollup/tally.ts";

export interface RolledUp {
  readonly summary: BundleSummary;
  readonly resourceCounts: ResourceCounts;
  readonly readyClusters: number;
  readonly desiredReadyClusters: number;
  readonly display: {
    readonly readyBundleDeployments: string;
    readonly state?: string;
    readonly message?: string;
    readonly error?: boolean;
  };
}

/** One Bundle has at most one BundleDeployment in a cluster, so clusters are counted as BundleDeployments are. */
export function rollUp(summary: BundleSummary, tally: Tally): RolledUp {
  const state = worstState(summary);
  const message =
    summary.nonReadyResources?.find((resource) => resource.bundleState === state)?.message ?? "";
  return {
    summary,
    resourceCounts: { ...tally.resources },
    readyClusters: summary.ready,
    desiredReadyClusters: summary.desiredReady,
    display: {
      readyBundleDeployments: `${summary.ready}/${summary.desiredReady}`,
      ...(state !== "" && { state }),
      ...(message !== "" && { message, error: true }),
    },
  };
}
