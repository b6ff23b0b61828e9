/** Deployments as the status of a Bundle sees them: counted and summarized. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import { clusterKeyOf } from "../cache/keys.ts";
import { offlineSince } from "../clusterstate/presence.ts";
import type { HelmOpInputs } from "../helmop/status.ts";
import {
  type BundleAggregate,
  createDeploymentAggregates,
  toCounted,
} from "../summary/bundle-aggregate.ts";
import { listOffline } from "../summary/offline-clusters.ts";
import { summarize } from "../summary/summarize.ts";
import { workspace } from "./objects.ts";

/** What the status of a HelmOp is told from; of archives and objects nothing was heard. */
export type Aggregated = Pick<
  HelmOpInputs,
  "summary" | "offline" | "archives" | "resources" | "perClusterResourceCounts"
> & { readonly tally: BundleAggregate };

/** All of them must be of the Bundle `web`; nothing is heard of the clusters in `away`. */
export function aggregated(
  deployments: readonly BundleDeployment[],
  pending = 0,
  away: readonly Cluster[] = [],
): Aggregated {
  const tallies = createDeploymentAggregates();
  const clusterOf = (deployment: BundleDeployment) =>
    away.find((cluster) => keyOf(cluster) === clusterKeyOf(deployment));
  for (const deployment of deployments)
    tallies.change(undefined, toCounted(deployment, clusterOf(deployment) !== undefined));
  const tally = tallies.ofBundle(`${workspace}/web`);
  const lookUp = (key: string) => deployments.find((deployment) => keyOf(deployment) === key);
  return {
    tally,
    summary: summarize({
      tally,
      pending,
      lookUp,
      nameOf: clusterKeyOf,
      unheardSince: (deployment) => offlineSince(clusterOf(deployment)),
    }),
    offline: listOffline(tally, lookUp, clusterOf),
    archives: new Map(),
    resources: [],
    perClusterResourceCounts: {},
  };
}
