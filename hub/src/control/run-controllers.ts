/** The leader's work: which change has which loop look again, and who tells which status. */

import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import type { Resolver } from "@flotilla/shared/charts/resolve.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import { createController, type Reconcile } from "@flotilla/shared/kube/controller.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events.ts";
import { type KubeObject, keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/object.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import type { Change } from "@flotilla/shared/kube/store.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Registry } from "prom-client";
import { clusterKeyOfNamespace, clusterReconciler } from "../cluster/reconcile.ts";
import { byContent, collectReconciler, contentsNamedBy } from "../content/collect.ts";
import type { ContentStore } from "../content/content-store.ts";
import { clusterKeyOf } from "../deploy/deployment-cluster.ts";
import { createContentPacker, goesTo } from "../deploy/place.ts";
import { bundlePreparer } from "../deploy/prepare.ts";
import { byBundle, byNamespace, deployReconciler } from "../deploy/reconcile.ts";
import { tombstoneReconciler } from "../deploy/tombstone.ts";
import { isDirect } from "../direct-bundle/as-helm-op.ts";
import { createBundleResolver } from "../direct-bundle/resolve-bundle.ts";
import { createChartAccess } from "../helm-op/chart-access.ts";
import { createDoubts } from "../helm-op/doubts.ts";
import { helmOpReconciler } from "../helm-op/reconcile.ts";
import { registerSeries } from "../metrics/series-metric.ts";
import { statusMetrics } from "../metrics/status-metrics.ts";
import { createPatterns } from "../policy/patterns.ts";
import { countStore } from "../rollup/count-store.ts";
import { createGroupTallies } from "../rollup/group-tally.ts";
import { bundleKeyOf, createTallies } from "../rollup/tally.ts";
import { toMember } from "../status/cluster-group-status.ts";
import { createOutcomes } from "../status/intent.ts";
import { createStatusWriters } from "../status/status-writers.ts";
import type { WorkspaceObjects } from "../supply/workspace-objects.ts";
import type { Caches } from "./caches.ts";
import {
  isFetchFailure,
  isIntentChange,
  isPinChange,
  isPresenceChange,
  isTargetingChange,
} from "./changes.ts";
import { userFields } from "./log-fields.ts";

export interface ControlDeps {
  /** Refuses writes once the leadership is lost. */
  readonly rest: KubeRest;
  readonly caches: Caches;
  readonly contents: ContentStore;
  /** Names the hub. */
  readonly hubId: string;
  readonly objects: WorkspaceObjects;
  readonly resolver: Resolver;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

/** How long a content stays that nothing names any more. */
const contentGraceMs = 5 * 60_000;

/** Runs until `signal` aborts. The caches must have synced. */
export async function runControllers(deps: ControlDeps, signal: AbortSignal): Promise<void> {
  const { rest, caches, clock, log } = deps;
  const outcomes = createOutcomes();
  const tallies = createTallies();
  const count = countStore(caches.deployments.store, tallies);
  const groups = createGroupTallies((cluster) => toMember(cluster, tallies));
  const housed = new Set<ObjectKey>();
  const statuses = createStatusWriters({
    rest,
    caches,
    outcomes,
    tallies,
    groups,
    housed,
    clock,
    log,
  });

  const controller = (
    name: string,
    workers: number,
    reconcile: Reconcile,
    lookUp?: (key: ObjectKey) => KubeObject | undefined,
  ) =>
    createController({
      name,
      workers,
      reconcile,
      logFields: (key) => userFields(lookUp?.(key)),
      log: log.child({ controller: name }),
      metrics: deps.metrics,
      clock,
    });
  const doubts = createDoubts(clock);
  const access = createChartAccess({ objects: deps.objects, log });
  const patterns = createPatterns();
  // A Bundle that somebody applied may have the key of a HelmOp that leaves it alone.
  const bundleAccess = createChartAccess({ objects: deps.objects, log });
  const charts = createBundleResolver({
    resolver: deps.resolver,
    access: bundleAccess,
    doubts,
    deploymentsOf: (key) => caches.deployments.store.byIndex(byBundle, key),
  });
  const helmOps = controller(
    "helmop",
    32,
    helmOpReconciler({
      ...deps,
      helmOps: caches.helmOps.store,
      bundles: caches.bundles.store,
      deployments: caches.deployments.store,
      policies: caches.policies.store,
      patterns,
      doubts,
      access,
      outcomes,
      markStatus: statuses.markHelmOp,
    }),
    caches.helmOps.store.get,
  );
  const bundles = controller(
    "bundle",
    16,
    deployReconciler({
      ...deps,
      bundles: caches.bundles.store,
      deployments: caches.deployments.store,
      clusters: caches.clusters.store,
      groups: caches.groups.store,
      packer: createContentPacker(),
      prepare: bundlePreparer({
        helmOps: caches.helmOps.store,
        policies: caches.policies.store,
        patterns,
        charts,
      }),
      forget: charts.forget,
      outcomes,
      onWritten: count,
      markStatus: statuses.markBundle,
    }),
    caches.bundles.store.get,
  );
  const clusterLoop = controller(
    "cluster",
    32,
    clusterReconciler({
      rest,
      clusters: caches.clusters.store,
      namespaces: caches.namespaces.store,
      housed,
      markStatus: statuses.markCluster,
    }),
  );
  const tombstones = controller(
    "tombstone",
    16,
    tombstoneReconciler({
      rest,
      deployments: caches.deployments.store,
      clusters: caches.clusters.store,
    }),
  );

  const collector = controller(
    "content",
    4,
    collectReconciler({
      ...deps,
      contentSecrets: caches.contents.store,
      deployments: caches.deployments.store,
      graceMs: contentGraceMs,
    }),
  );

  function enqueueBundlesOf(namespace: string): void {
    for (const bundle of caches.bundles.store.byIndex(byNamespace, namespace))
      bundles.enqueue(keyOf(bundle));
  }

  /**
   * Only those that go to the cluster now or went there before, and those that miss something: a thousand clusters must
   * not move every Bundle each.
   */
  function enqueueBundlesFor(namespace: string, { before, after }: Change<Cluster>): void {
    const groups = caches.groups.store.byIndex(byNamespace, namespace);
    const sides = [before, after].filter((cluster) => cluster !== undefined);
    for (const bundle of caches.bundles.store.byIndex(byNamespace, namespace)) {
      const key = keyOf(bundle);
      const isMissed = outcomes.bundles.get(key)?.missing !== undefined;
      if (isMissed || sides.some((cluster) => goesTo(bundle, cluster, groups)))
        bundles.enqueue(key);
    }
  }

  function regroup(key: ObjectKey, cluster: Cluster | undefined): void {
    const { namespace = "" } = refOf(key);
    const others = caches.groups.store.byIndex(byNamespace, namespace);
    for (const group of groups.clusterChanged(key, cluster, others)) statuses.markGroup(group);
  }

  /** What a cluster counts for has changed; where it belongs has not. */
  function recountInGroups(key: ObjectKey): void {
    const cluster = caches.clusters.store.get(key);
    if (cluster === undefined) return;
    for (const group of groups.recount(cluster)) statuses.markGroup(group);
  }

  function lookAtGroup(key: ObjectKey, group: ClusterGroup | undefined): void {
    const { namespace = "" } = refOf(key);
    groups.groupChanged(key, group, caches.clusters.store.byIndex(byNamespace, namespace));
    statuses.markGroup(key);
  }

  /** A Cluster that is gone confirms nothing any more. */
  function enqueueTombstonesOf(cluster: ObjectKey): void {
    const { namespace = "", name } = refOf(cluster);
    const house = clusterNamespaceName(namespace, name);
    for (const deployment of caches.deployments.store.byIndex(byNamespace, house))
      tombstones.enqueue(keyOf(deployment));
  }

  function enqueueContentsOf(deployment: BundleDeployment): void {
    for (const id of contentsNamedBy(deployment)) {
      for (const secret of caches.contents.store.byIndex(byContent, id)) {
        collector.enqueue(keyOf(secret));
      }
    }
  }

  /** Whose pins they are. */
  function lookAgainAtPins(key: ObjectKey): void {
    const bundle = caches.bundles.store.get(key);
    const isOwn = bundle !== undefined && isDirect(bundle, caches.helmOps.store.get(key));
    (isOwn ? bundles : helmOps).enqueue(key);
  }

  const unsubscribe = [
    // One replica tells them, the one that writes what they count.
    registerSeries(
      deps.metrics,
      statusMetrics({
        helmOps: () => caches.helmOps.store.list(),
        bundles: () => caches.bundles.store.list(),
        clusters: () => caches.clusters.store.list(),
      }),
    ),
    deps.objects.onChange((namespace, ref) => {
      for (const key of access.users(namespace, ref)) helmOps.enqueue(key);
      for (const key of bundleAccess.users(namespace, ref)) bundles.enqueue(key);
    }),
    caches.helmOps.onChange((change) => {
      if (isIntentChange(change)) helmOps.enqueue(change.key);
      // A Bundle without its HelmOp speaks for itself.
      if (change.before === undefined || change.after === undefined) bundles.enqueue(change.key);
    }),
    caches.policies.onChange((change) => {
      if (!isIntentChange(change)) return;
      const namespace = (change.after ?? change.before)?.metadata.namespace ?? "";
      for (const helmOp of caches.helmOps.store.byIndex(byNamespace, namespace))
        helmOps.enqueue(keyOf(helmOp));
      enqueueBundlesOf(namespace);
    }),
    caches.bundles.onChange((change) => {
      if (isPinChange(change)) bundles.enqueue(change.key);
      if (!isIntentChange(change)) return;
      bundles.enqueue(change.key);
      // Somebody else's hand in our Bundle, or its end: a Bundle has the key of its HelmOp.
      if (change.before !== undefined) helmOps.enqueue(change.key);
    }),
    caches.deployments.onChange((change) => {
      count(change.key);
      if (change.before !== undefined) enqueueContentsOf(change.before);
      const deployment = change.after ?? change.before;
      if (deployment === undefined) return;
      const bundleKey = bundleKeyOf(deployment);
      statuses.markBundle(bundleKey);
      statuses.markCluster(clusterKeyOf(deployment));
      recountInGroups(clusterKeyOf(deployment));
      if (isFetchFailure(change) && doubts.raise(bundleKey)) lookAgainAtPins(bundleKey);
      if (change.before === undefined || !isIntentChange(change)) return;
      bundles.enqueue(bundleKey);
      tombstones.enqueue(change.key);
    }),
    caches.clusters.onChange((change) => {
      const namespace = (change.after ?? change.before)?.metadata.namespace ?? "";
      if (isIntentChange(change)) clusterLoop.enqueue(change.key);
      if (isTargetingChange(change)) enqueueBundlesFor(namespace, change);
      if (isIntentChange(change)) regroup(change.key, change.after);
      if (isPresenceChange(change)) {
        statuses.markCluster(change.key);
        recountInGroups(change.key);
      }
      if (change.after === undefined) enqueueTombstonesOf(change.key);
    }),
    caches.groups.onChange((change) => {
      if (!isIntentChange(change)) return;
      lookAtGroup(change.key, change.after);
      enqueueBundlesOf((change.after ?? change.before)?.metadata.namespace ?? "");
    }),
    caches.namespaces.onChange((change) => {
      const key =
        change.after === undefined && change.before !== undefined
          ? clusterKeyOfNamespace(change.before)
          : undefined;
      if (key !== undefined) clusterLoop.enqueue(key);
    }),
  ];

  // Everything that is there is looked at once; whatever changed while nobody led is found that way.
  for (const deployment of caches.deployments.store.list()) {
    count(keyOf(deployment));
    if (deployment.metadata.deletionTimestamp !== undefined) tombstones.enqueue(keyOf(deployment));
  }
  for (const cluster of caches.clusters.store.list()) clusterLoop.enqueue(keyOf(cluster));
  for (const group of caches.groups.store.list()) lookAtGroup(keyOf(group), group);
  for (const namespace of caches.namespaces.store.list()) {
    const key = clusterKeyOfNamespace(namespace);
    if (key !== undefined) clusterLoop.enqueue(key);
  }
  for (const helmOp of caches.helmOps.store.list()) helmOps.enqueue(keyOf(helmOp));
  for (const content of caches.contents.store.list()) collector.enqueue(keyOf(content));
  for (const bundle of caches.bundles.store.list()) bundles.enqueue(keyOf(bundle));

  try {
    await Promise.all(
      [helmOps, bundles, clusterLoop, tombstones, collector].map((loop) => loop.run(signal)),
    );
  } finally {
    for (const stop of unsubscribe) stop();
    await statuses.flush();
  }
}
