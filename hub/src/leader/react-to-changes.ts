/** Which change has which loop look again, and whose status is told anew. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import { byNamespace } from "@flotilla/shared/kube/cache/object-index.ts";
import type { Change } from "@flotilla/shared/kube/cache/store.ts";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { isDirect } from "../bundle/as-helm-op.ts";
import { goesTo } from "../bundle/place.ts";
import type { FollowedCaches } from "../cache/caches.ts";
import { byDigest, contentsNamedBy } from "../cache/indexes.ts";
import { bundleKeyOf, clusterKeyOf } from "../cache/keys.ts";
import { clusterKeyOfNamespace } from "../clusterstate/cluster-namespace.ts";
import type { WorkspaceObjects } from "../referenced/workspace-objects.ts";
import {
  isFetchFailure,
  isFetchMended,
  isIntentChange,
  isPinChange,
  isPresenceChange,
  isTargetingChange,
} from "./changes.ts";
import type { Knowledge } from "./knowledge.ts";
import { lookTogether } from "./look-together.ts";
import type { Loops } from "./loops.ts";

/** From now on, until what it gives is called; what is there already is looked at once. */
export function reactToChanges(
  {
    caches,
    objects,
    clock,
  }: {
    readonly caches: FollowedCaches;
    readonly objects: Pick<WorkspaceObjects, "onChange">;
    readonly clock: Clock;
  },
  { access, bundleAccess, count, doubts, groups, outcomes, statuses }: Knowledge,
  loops: Loops,
): () => void {
  const lookAtBundleTogether = lookTogether(loops.bundles, caches.clusters.store, clock);

  function enqueueBundlesOf(namespace: string): void {
    for (const bundle of caches.bundles.store.byIndex(byNamespace, namespace))
      loops.bundles.enqueue(keyOf(bundle));
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
        lookAtBundleTogether(key);
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

  /** What runs in a cluster counts differently from now on; told soon, since thousands may come or go at once. */
  function recountPresence(key: ObjectKey): void {
    const { namespace = "", name } = refOf(key);
    const house = clusterNamespaceName(namespace, name);
    for (const deployment of caches.deployments.store.byIndex(byNamespace, house)) {
      count(keyOf(deployment));
      statuses.markBundleLater(bundleKeyOf(deployment));
    }
    const cluster = caches.clusters.store.get(key);
    if (cluster === undefined) return;
    for (const group of groups.recount(cluster)) statuses.markGroupLater(group);
  }

  function lookAtGroup(key: ObjectKey, group: ClusterGroup | undefined): void {
    const { namespace = "" } = refOf(key);
    groups.groupChanged(key, group, caches.clusters.store.byIndex(byNamespace, namespace));
    statuses.markGroup(key);
  }

  /** A Cluster that is to be emptied goes with its last deployment. */
  function lookIfBeingDeleted(cluster: ObjectKey): void {
    if (caches.clusters.store.get(cluster)?.metadata.deletionTimestamp !== undefined)
      loops.clusters.enqueue(cluster);
  }

  /** A Cluster that is gone confirms nothing any more. */
  function enqueueTombstonesOf(cluster: ObjectKey): void {
    const { namespace = "", name } = refOf(cluster);
    const house = clusterNamespaceName(namespace, name);
    for (const deployment of caches.deployments.store.byIndex(byNamespace, house))
      loops.tombstones.enqueue(keyOf(deployment));
  }

  function enqueueContentsOf(deployment: BundleDeployment): void {
    for (const id of contentsNamedBy(deployment)) {
      for (const secret of caches.contents.store.byIndex(byDigest, id)) {
        loops.contents.enqueue(keyOf(secret));
      }
    }
  }

  /** Whose pins they are. */
  function lookAgainAtPins(key: ObjectKey): void {
    const bundle = caches.bundles.store.get(key);
    const isOwn = bundle !== undefined && isDirect(bundle, caches.helmOps.store.get(key));
    (isOwn ? loops.bundles : loops.helmOps).enqueue(key);
  }

  const unsubscribe = [
    objects.onChange((namespace, ref) => {
      for (const key of access.users(namespace, ref)) loops.helmOps.enqueue(key);
      for (const key of bundleAccess.users(namespace, ref)) loops.bundles.enqueue(key);
    }),
    caches.helmOps.onChange((change) => {
      if (isIntentChange(change)) loops.helmOps.enqueue(change.key);
      // A Bundle without its HelmOp speaks for itself.
      if (change.before === undefined || change.after === undefined)
        loops.bundles.enqueue(change.key);
    }),
    caches.policies.onChange((change) => {
      if (!isIntentChange(change)) return;
      const namespace = (change.after ?? change.before)?.metadata.namespace ?? "";
      for (const helmOp of caches.helmOps.store.byIndex(byNamespace, namespace))
        loops.helmOps.enqueue(keyOf(helmOp));
      enqueueBundlesOf(namespace);
    }),
    caches.bundles.onChange((change) => {
      if (isPinChange(change)) loops.bundles.enqueue(change.key);
      if (!isIntentChange(change)) return;
      loops.bundles.enqueue(change.key);
      // Somebody else's hand in our Bundle, or its end: a Bundle has the key of its HelmOp.
      if (change.before !== undefined) loops.helmOps.enqueue(change.key);
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
      if (change.before === undefined || change.after === undefined)
        lookIfBeingDeleted(clusterKeyOf(deployment));
      // That a pin could not be looked up once more is told for as long as an agent cannot fetch it.
      if (isFetchMended(change) || (isFetchFailure(change) && doubts.raise(bundleKey)))
        lookAgainAtPins(bundleKey);
      if (change.before === undefined || !isIntentChange(change)) return;
      lookAtBundleTogether(bundleKey);
      loops.tombstones.enqueue(change.key);
    }),
    caches.clusters.onChange((change) => {
      const namespace = (change.after ?? change.before)?.metadata.namespace ?? "";
      if (isIntentChange(change)) loops.clusters.enqueue(change.key);
      if (isTargetingChange(change)) enqueueBundlesFor(namespace, change);
      if (isIntentChange(change)) regroup(change.key, change.after);
      if (isPresenceChange(change)) {
        statuses.markCluster(change.key);
        recountPresence(change.key);
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
      if (key !== undefined) loops.clusters.enqueue(key);
    }),
  ];

  // Everything that is there is looked at once; whatever changed while nobody led is found that way.
  for (const deployment of caches.deployments.store.list()) {
    const key = keyOf(deployment);
    count(key);
    if (isFetchFailure({ key, after: deployment })) doubts.raise(bundleKeyOf(deployment));
    if (deployment.metadata.deletionTimestamp !== undefined) loops.tombstones.enqueue(key);
  }
  for (const cluster of caches.clusters.store.list()) loops.clusters.enqueue(keyOf(cluster));
  for (const group of caches.groups.store.list()) lookAtGroup(keyOf(group), group);
  for (const namespace of caches.namespaces.store.list()) {
    const key = clusterKeyOfNamespace(namespace);
    if (key !== undefined) loops.clusters.enqueue(key);
  }
  for (const helmOp of caches.helmOps.store.list()) loops.helmOps.enqueue(keyOf(helmOp));
  for (const content of caches.contents.store.list()) loops.contents.enqueue(keyOf(content));
  for (const bundle of caches.bundles.store.list()) loops.bundles.enqueue(keyOf(bundle));

  return () => {
    for (const stop of unsubscribe) stop();
  };
}
