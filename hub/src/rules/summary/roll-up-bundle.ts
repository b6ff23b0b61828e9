/** Rolls up the deployments of a Bundle for its status and its HelmOp's. */
import {
  type BundleDeployment,
  type BundleStatus,
  type BundleSummary,
  bundleStates,
  type Cluster,
  type HelmOpStatus,
  type LastResults,
  type LastSuccess,
} from "@flotilla/shared/api";
import type { NewCondition } from "@flotilla/shared/conditions";
import type { Store } from "@flotilla/shared/kube/cache";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { clusterKeyOf, offlineCheck, offlineSince } from "../../base/index.ts";
import type { Aggregates } from "./aggregates.ts";
import type { Archives } from "./archives.ts";
import { type BundleAggregate, emptyAggregate } from "./bundle-aggregate.ts";
import { lastResults } from "./last-results.ts";
import { lastSuccess } from "./last-success.ts";
import { countByCluster, listObjects } from "./list-objects.ts";
import { listOffline, type OfflineClusters } from "./offline-clusters.ts";
import { pendingDeployments } from "./ready-condition.ts";
import { releaseConditions } from "./release-conditions.ts";
import { stalledReleases } from "./stalled.ts";
import { summarize } from "./summarize.ts";

export interface RollUpSources {
  readonly aggregates: Pick<Aggregates, "ofBundle" | "archivesOf" | "orphanedOf">;
  readonly deployments: Store<BundleDeployment>;
  readonly clusters: Store<Cluster>;
}

export interface BundleRollUp {
  readonly aggregate: BundleAggregate;
  readonly summary: BundleSummary;
  readonly offline: OfflineClusters;
  /** The conditions of its releases. */
  readonly conditions: readonly NewCondition[];
  /** Stalled=True, when none of its releases that failed is tried again by itself. */
  readonly stalled: NewCondition | undefined;
  /** What was last released in all its clusters. */
  readonly lastSuccess: LastSuccess | undefined;
  /** What last failed, was tested and drifted. */
  readonly lastResults: LastResults | undefined;
}

/** What a status has of the last roll-up: the number of desired deployments, what was released, and what went wrong. */
export type RolledUpBefore = Pick<
  BundleStatus,
  "targets" | "summary" | "lastSuccess" | "lastResults"
>;

/** `key`: undefined where nothing is deployed. */
export function rollUpBundle(
  { aggregates, deployments, clusters }: RollUpSources,
  key: ObjectKey | undefined,
  before: RolledUpBefore,
): BundleRollUp {
  const clusterOf = (deployment: BundleDeployment) => clusters.get(clusterKeyOf(deployment));
  const aggregate = key === undefined ? emptyAggregate : aggregates.ofBundle(key);
  const named = { aggregate, lookUp: deployments.get, nameOf: clusterKeyOf };
  const summary = summarize({
    aggregate,
    // As long as the next reconcile has not counted its targets, deleted clusters are among them.
    pending:
      key === undefined
        ? 0
        : pendingDeployments(before, aggregate.total + aggregates.orphanedOf(key)),
    lookUp: deployments.get,
    nameOf: clusterKeyOf,
    unheardSince: (deployment) => offlineSince(clusterOf(deployment)),
  });
  return {
    aggregate,
    summary,
    offline: listOffline(aggregate, deployments.get, clusterOf),
    conditions: releaseConditions(named),
    stalled: stalledReleases(named),
    lastSuccess:
      key === undefined
        ? before.lastSuccess
        : lastSuccess({
            aggregate,
            summary,
            known: before.lastSuccess,
            lookUp: deployments.get,
            isOffline: offlineCheck(clusters),
          }),
    lastResults: lastResults({
      ...named,
      known: before.lastResults,
      isOffline: offlineCheck(clusters),
    }),
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
