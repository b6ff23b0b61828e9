/** The controller of Clusters and the publisher of their statuses: what they watch, and how a change maps to keys. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster, ClusterStatus } from "@flotilla/shared/api/cluster.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import { clusters as clusterResource } from "@flotilla/shared/api/resources.ts";
import { byNamespace } from "@flotilla/shared/kube/cache/object-index.ts";
import type { Change } from "@flotilla/shared/kube/cache/store.ts";
import { type Controller, createController } from "@flotilla/shared/kube/controller/controller.ts";
import {
  isExistenceChange,
  isSpecChange,
  ownKey,
  type Watch,
  watch,
} from "@flotilla/shared/kube/controller/watch.ts";
import type { Namespace } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { ControllerDeps } from "../cache/deps.ts";
import { bundleKeyOf, clusterKeyOf } from "../cache/keys.ts";
import { clusterKeyOfNamespace, hasNamespace } from "../clusterstate/cluster-namespace.ts";
import { isBeingEmptied } from "../clusterstate/deletion.ts";
import { createPublisher, type Publisher } from "../status/publisher.ts";
import { type Aggregates, isPresenceChange } from "../summary/aggregates.ts";
import { summarize } from "../summary/summarize.ts";
import { clusterReconciler } from "./reconcile.ts";
import { clusterStatus, isUrgentCluster } from "./status.ts";

export interface ClusterControllerDeps extends ControllerDeps {
  readonly aggregates: Pick<Aggregates, "ofCluster">;
  readonly statuses: Pick<Publisher<ClusterStatus, Cluster>, "refresh">;
}

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
  clock,
  log,
}: Omit<ClusterControllerDeps, "statuses">): Publisher<ClusterStatus, Cluster> {
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
    rollUp(cluster) {
      const { namespace: workspace = "", name } = cluster.metadata;
      const namespace = clusterNamespaceName(workspace, name);
      if (!hasNamespace(cluster, namespaces.store.get(namespace))) return undefined;
      const tally = aggregates.ofCluster(namespace);
      return clusterStatus({
        cluster,
        namespace,
        summary: summarize({
          tally,
          pending: 0,
          lookUp: deployments.store.get,
          nameOf: bundleKeyOf,
        }),
        tally,
        ...(isBeingEmptied(cluster) && { remaining: remainingIn(namespace) }),
        now: new Date(clock.now()).toISOString(),
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
