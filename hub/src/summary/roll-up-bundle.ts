/** Rolls up the deployments of a Bundle for its status and that of its HelmOp. */
import {
  type BundleDeployment,
  type BundleStatus,
  type BundleSummary,
  bundleStates,
  type Cluster,
  type HelmOpStatus,
} from "@flotilla/shared/api";
import type { NewCondition } from "@flotilla/shared/conditions";
import type { Store } from "@flotilla/shared/kube/cache";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { clusterKeyOf } from "../cache/index.ts";
import { offlineSince } from "../clusterstate/index.ts";
import type { Aggregates } from "./aggregates.ts";
import type { Archives } from "./archives.ts";
import { type BundleAggregate, emptyAggregate } from "./bundle-aggregate.ts";
import { countByCluster, listObjects } from "./list-objects.ts";
import { listOffline, type OfflineClusters } from "./offline-clusters.ts";
import { pendingDeployments } from "./ready-condition.ts";
import { releaseConditions } from "./release-conditions.ts";
import { summarize } from "./summarize.ts";

export interface RollUpSources {
  readonly aggregates: Pick<Aggregates, "ofBundle" | "archivesOf">;
  readonly deployments: Store<BundleDeployment>;
  readonly clusters: Store<Cluster>;
}

export interface BundleRollUp {
  readonly aggregate: BundleAggregate;
  readonly summary: BundleSummary;
  readonly offline: OfflineClusters;
  /** Of its releases. */
  readonly conditions: readonly NewCondition[];
}

/** The number of desired deployments in a status. */
export type DesiredCounts = Pick<BundleStatus, "targets" | "summary">;

/** `key`: undefined where nothing is deployed. */
export function rollUpBundle(
  { aggregates, deployments, clusters }: RollUpSources,
  key: ObjectKey | undefined,
  desired: DesiredCounts,
): BundleRollUp {
  const clusterOf = (deployment: BundleDeployment) => clusters.get(clusterKeyOf(deployment));
  const aggregate = key === undefined ? emptyAggregate : aggregates.ofBundle(key);
  return {
    aggregate,
    summary: summarize({
      aggregate,
      pending: key === undefined ? 0 : pendingDeployments(desired, aggregate.total),
      lookUp: deployments.get,
      nameOf: clusterKeyOf,
      unheardSince: (deployment) => offlineSince(clusterOf(deployment)),
    }),
    offline: listOffline(aggregate, deployments.get, clusterOf),
    conditions: releaseConditions({ aggregate, lookUp: deployments.get, nameOf: clusterKeyOf }),
  };
}

/** The deployments that need attention most, the worst state first and then by name, at most `count`. */
export function worstDeployments(
  { deployments }: Pick<BundleAggregate, "deployments">,
  store: Pick<Store<BundleDeployment>, "get">,
  count: number,
): readonly BundleDeployment[] {
  const keys: ObjectKey[] = [];
  for (const state of bundleStates)
    keys.push(...(deployments.get(state)?.first(count - keys.length) ?? []));
  return keys.flatMap((key) => store.get(key) ?? []);
}

export interface ObjectRollUp {
  readonly archives: Archives;
  readonly resources: NonNullable<HelmOpStatus["resources"]>;
  readonly perClusterResourceCounts: NonNullable<HelmOpStatus["perClusterResourceCounts"]>;
}

/** The archives and objects that its clusters have, for the status of a HelmOp. */
export function rollUpObjects(
  { aggregates, deployments }: RollUpSources,
  key: ObjectKey,
  aggregate: BundleAggregate,
): ObjectRollUp {
  return {
    archives: aggregates.archivesOf(key),
    resources: listObjects(aggregate.objects, deployments.get),
    perClusterResourceCounts: countByCluster(aggregate, deployments.get),
  };
}
