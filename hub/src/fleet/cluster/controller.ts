/** The controller of Clusters and the publisher of their statuses: what they watch, and how a change maps to keys. */

import {
  type BundleDeployment,
  type Cluster,
  type ClusterStatus,
  clusters as clusterResource,
  isManagedElsewhere,
} from "@flotilla/shared/api";
import { byNamespace, type Change } from "@flotilla/shared/kube/cache";
import {
  type Controller,
  createController,
  isExistenceChange,
  isSpecChange,
  ownKey,
  type Watch,
  watch,
} from "@flotilla/shared/kube/controller";
import type { Namespace, ObjectKey } from "@flotilla/shared/kube/objects";
import { formatTimeMs } from "@flotilla/shared/time";
import {
  bundleKeyOf,
  type ControllerDeps,
  chooseNamespace,
  clusterKeyOf,
  clusterKeyOfNamespace,
  clusterNamespaceOf,
  createPublisher,
  hasNamespace,
  isBeingEmptied,
  type Publisher,
  type PublisherOptions,
} from "../../base/index.ts";
import type { StatusObserver } from "../../events/index.ts";
import { type Aggregates, isPresenceChange, type Schedules, summarize } from "../../rules/index.ts";
import { clusterReconciler } from "./reconcile.ts";
import { clusterStatus, isUrgentCluster, managedElsewhereStatus } from "./status.ts";

export interface ClusterControllerDeps extends ControllerDeps {
  readonly observer?: StatusObserver | undefined;
  readonly aggregates: Pick<Aggregates, "ofCluster">;
  readonly schedules: Pick<Schedules, "coverageOf">;
  readonly statuses: Pick<Publisher<ClusterStatus, Cluster>, "refresh">;
}

export type ClusterPublisherDeps = Omit<ClusterControllerDeps, "statuses"> &
  Pick<PublisherOptions<ClusterStatus, Cluster>, "goesFirst">;

export function createClusterController(deps: ClusterControllerDeps): Controller {
  const { clusters, deployments, namespaces, tokens } = deps.caches;
  return createController({
    name: "cluster",
    workers: 32,
    reconcile: clusterReconciler({
      rest: deps.rest,
      clusters: clusters.store,
      deployments: deployments.store,
      namespaces: namespaces.store,
      tokens: tokens.store,
      refresh: deps.statuses.refresh,
      events: deps.events,
    }),
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
    watches: [
      watch(clusters, { predicate: isSpecChange, toKeys: ownKey }),
      // A namespace that outlived its Cluster, or was deleted under it.
      watch(namespaces, {
        predicate: ({ after, isInInitialList }) => after === undefined || isInInitialList === true,
        toKeys: clusterOfNamespace,
      }),
      // A Cluster that is being emptied is removed with its last deployment.
      watch(deployments, {
        predicate: isExistenceChange,
        toKeys: (change) => clusterOf(change).filter(isBeingDeleted),
        replay: false,
      }),
    ],
  });

  function isBeingDeleted(key: ObjectKey): boolean {
    return clusters.store.get(key)?.metadata.deletionTimestamp !== undefined;
  }
}

/** What changes the status of a Cluster, beyond its own reconcile. */
export function clusterStatusWatches({
  clusters,
  deployments,
  namespaces,
}: ControllerDeps["caches"]): readonly Watch[] {
  return [
    watch(deployments, { toKeys: clusterOf, replay: false }),
    watch(clusters, { predicate: isPresenceChange, toKeys: ownKey, replay: false }),
    watch(namespaces, { predicate: isExistenceChange, toKeys: clusterOfNamespace, replay: false }),
  ];
}

export function createClusterPublisher({
  rest,
  caches,
  aggregates,
  schedules,
  observer,
  goesFirst,
  clock,
  log,
}: ClusterPublisherDeps): Publisher<ClusterStatus, Cluster> {
  const { clusters, deployments, namespaces } = caches;
  const remainingIn = (namespace: string) =>
    deployments.store
      .byIndex(byNamespace, namespace)
      .map(({ metadata }) => metadata.name)
      .toSorted();
  return createPublisher<ClusterStatus, Cluster>({
    rest,
    clock,
    log,
    resource: clusterResource,
    store: clusters.store,
    isUrgent: isUrgentCluster,
    beforeWrite: observer?.cluster,
    goesFirst,
    rollUp(cluster) {
      const now = formatTimeMs(clock.now());
      if (isManagedElsewhere(cluster)) return managedElsewhereStatus(cluster, now);
      const namespace = chooseNamespace(cluster, namespaces.store.get);
      const isTaken = namespace.kind === "taken";
      if (!isTaken && !hasNamespace(cluster, namespaces.store.get(namespace.name)))
        return undefined;
      const aggregate = aggregates.ofCluster(isTaken ? "" : namespace.name);
      return clusterStatus({
        cluster,
        namespace,
        summary: summarize({
          aggregate,
          pending: 0,
          lookUp: deployments.store.get,
          nameOf: bundleKeyOf,
        }),
        aggregate,
        coverage: schedules.coverageOf(cluster, clock.now()),
        ...(isBeingEmptied(cluster) && { remaining: remainingIn(clusterNamespaceOf(cluster)) }),
        now,
      });
    },
  });
}

function clusterOfNamespace({ before, after }: Change<Namespace>): readonly ObjectKey[] {
  const namespace = after ?? before;
  return [namespace && clusterKeyOfNamespace(namespace)].filter((key) => key !== undefined);
}

function clusterOf({ before, after }: Change<BundleDeployment>): readonly ObjectKey[] {
  const deployment = after ?? before;
  return deployment === undefined ? [] : [clusterKeyOf(deployment)];
}
