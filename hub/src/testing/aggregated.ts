/** Deployments as the status of a Bundle sees them: counted and summarized. */
import type { BundleDeployment, Cluster } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { clusterKeyOf } from "../base/cache/keys.ts";
import { offlineSince } from "../base/clusterstate/presence.ts";
import type { HelmOpInputs } from "../frontends/helmop/status.ts";
import {
  type BundleAggregate,
  createDeploymentAggregates,
  toCounted,
} from "../rules/summary/bundle-aggregate.ts";
import { lastSuccess } from "../rules/summary/last-success.ts";
import { listOffline } from "../rules/summary/offline-clusters.ts";
import { releaseConditions } from "../rules/summary/release-conditions.ts";
import { stalledReleases } from "../rules/summary/stalled.ts";
import { summarize } from "../rules/summary/summarize.ts";
import { workspace } from "./objects.ts";

/** The inputs for the status of a HelmOp, without archives and objects. */
export type Aggregated = Pick<
  HelmOpInputs,
  | "summary"
  | "offline"
  | "conditions"
  | "stalled"
  | "lastSuccess"
  | "archives"
  | "resources"
  | "perClusterResourceCounts"
> & { readonly aggregate: BundleAggregate };

/** All of them must be of the Bundle `web`; the clusters in `offlineClusters` are offline. */
export function aggregated(
  deployments: readonly BundleDeployment[],
  pending = 0,
  offlineClusters: readonly Cluster[] = [],
): Aggregated {
  const aggregates = createDeploymentAggregates();
  const clusterOf = (deployment: BundleDeployment) =>
    offlineClusters.find((cluster) => keyOf(cluster) === clusterKeyOf(deployment));
  for (const deployment of deployments)
    aggregates.change(undefined, toCounted(deployment, clusterOf(deployment) !== undefined));
  const aggregate = aggregates.ofBundle(`${workspace}/web`);
  const lookUp = (key: string) => deployments.find((deployment) => keyOf(deployment) === key);
  const summary = summarize({
    aggregate,
    pending,
    lookUp,
    nameOf: clusterKeyOf,
    unheardSince: (deployment) => offlineSince(clusterOf(deployment)),
  });
  const isOffline = (deployment: BundleDeployment) => clusterOf(deployment) !== undefined;
  return {
    aggregate,
    summary,
    lastSuccess: lastSuccess({ aggregate, summary, known: undefined, lookUp, isOffline }),
    offline: listOffline(aggregate, lookUp, clusterOf),
    conditions: releaseConditions({ aggregate, lookUp, nameOf: clusterKeyOf }),
    stalled: stalledReleases({ aggregate, lookUp, nameOf: clusterKeyOf }),
    archives: new Map(),
    resources: [],
    perClusterResourceCounts: {},
  };
}
