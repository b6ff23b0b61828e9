/** The leader's status loops: one for each kind, computing from all inputs. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import { bundles, clusterGroups, clusters, helmOps } from "@flotilla/shared/api/resources.ts";
import type { BundleSummary } from "@flotilla/shared/api/summary.ts";
import { byNamespace } from "@flotilla/shared/kube/cache/object-index.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { bundleStatus, isBundleNews } from "../bundle/status.ts";
import type { FollowedCaches } from "../cache/caches.ts";
import { bundleKeyOf, clusterKeyOf, isBundleOf } from "../cache/keys.ts";
import { clusterStatus, isClusterNews } from "../cluster/status.ts";
import { clusterGroupStatus, isClusterGroupNews } from "../clustergroup/status.ts";
import { isLeaving } from "../clusterstate/deletion.ts";
import { unheardSince } from "../clusterstate/presence.ts";
import { helmOpStatus, isHelmOpNews } from "../helmop/status.ts";
import type { Outcomes } from "../status/intent.ts";
import { createStatusWriter } from "../status/publisher.ts";
import { noTally, type Tallies, type Tally, worstOf } from "../summary/aggregate.ts";
import type { GroupTallies } from "../summary/group-aggregate.ts";
import { countByCluster, listObjects } from "../summary/list-objects.ts";
import { listOffline } from "../summary/offline-clusters.ts";
import { unmadeDeployments } from "../summary/pending.ts";
import { summarize } from "../summary/summarize.ts";

export interface StatusWriters {
  markHelmOp(key: ObjectKey): void;
  /** Also the HelmOp of that key, which tells of the same. */
  markBundle(key: ObjectKey): void;
  /** The same when a cluster of it has come or gone, which may be thousands at once. */
  markBundleLater(key: ObjectKey): void;
  markCluster(key: ObjectKey): void;
  markGroup(key: ObjectKey): void;
  markGroupLater(key: ObjectKey): void;
  flush(): Promise<void>;
}

export interface StatusWritersDeps {
  readonly rest: KubeRest;
  readonly caches: FollowedCaches;
  readonly outcomes: Outcomes;
  readonly tallies: Tallies;
  readonly groups: GroupTallies;
  /** Keys of Clusters whose namespace is there. */
  readonly housed: ReadonlySet<ObjectKey>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createStatusWriters({
  rest,
  caches,
  outcomes,
  tallies,
  groups,
  housed,
  clock,
  log,
}: StatusWritersDeps): StatusWriters {
  const now = () => new Date(clock.now()).toISOString();
  const lookUp = (key: ObjectKey) => caches.deployments.store.get(key);
  const clusterOf = (deployment: BundleDeployment) =>
    caches.clusters.store.get(clusterKeyOf(deployment));

  function deploymentsOf(namespace: string): readonly string[] {
    const deployments = caches.deployments.store.byIndex(byNamespace, namespace);
    return deployments.map(({ metadata }) => metadata.name).toSorted();
  }

  /** What a group shows of a cluster. */
  function worstDeploymentOf(cluster: ObjectKey): BundleDeployment | undefined {
    const { namespace = "", name } = refOf(cluster);
    const tally = tallies.ofCluster(clusterNamespaceName(namespace, name));
    const [key] = tally.deployments.get(worstOf(tally.states))?.first(1) ?? [];
    return key === undefined ? undefined : lookUp(key);
  }

  function bundleSummary(key: ObjectKey, told: BundleSummary | undefined): BundleSummary {
    const tally = tallies.ofBundle(key);
    return summaryOf(tally, unmadeDeployments(outcomes.bundles.get(key), tally.total, told));
  }

  function summaryOf(tally: Tally, pending: number): BundleSummary {
    return summarize({
      tally,
      pending,
      lookUp,
      nameOf: (deployment: BundleDeployment) => clusterKeyOf(deployment),
      unheardSince: (deployment) => unheardSince(clusterOf(deployment)),
    });
  }

  const helmOpWriter = createStatusWriter({
    rest,
    clock,
    log,
    resource: helmOps,
    store: caches.helmOps.store,
    isUrgent: isHelmOpNews,
    compute: (helmOp) => {
      const key = keyOf(helmOp);
      const intent = outcomes.helmOps.get(key);
      if (intent === undefined) return undefined;
      const bundle = caches.bundles.store.get(key);
      // What a Bundle does that somebody else made is none of the HelmOp's.
      const isForeign = bundle !== undefined && !isBundleOf(bundle, helmOp);
      const tally = isForeign ? noTally : tallies.ofBundle(key);
      return helmOpStatus({
        helmOp,
        intent,
        bundle: isForeign ? undefined : bundle,
        targeting: isForeign ? undefined : outcomes.bundles.get(key),
        summary: isForeign ? summaryOf(noTally, 0) : bundleSummary(key, helmOp.status?.summary),
        archives: tallies.archivesOf(key),
        tally,
        offline: listOffline(tally, lookUp, clusterOf),
        resources: listObjects(tally.objects, lookUp),
        perClusterResourceCounts: countByCluster(tally, lookUp),
        now: now(),
      });
    },
  });
  const bundleWriter = createStatusWriter({
    rest,
    clock,
    log,
    resource: bundles,
    store: caches.bundles.store,
    isUrgent: isBundleNews,
    compute: (bundle) => {
      const key = keyOf(bundle);
      const targeting = outcomes.bundles.get(key);
      if (targeting === undefined) return undefined;
      const tally = tallies.ofBundle(key);
      return bundleStatus({
        bundle,
        targeting,
        summary: bundleSummary(key, bundle.status?.summary),
        tally,
        offline: listOffline(tally, lookUp, clusterOf),
        now: now(),
      });
    },
  });
  const clusterWriter = createStatusWriter({
    rest,
    clock,
    log,
    resource: clusters,
    store: caches.clusters.store,
    isUrgent: isClusterNews,
    compute: (cluster) => {
      if (!housed.has(keyOf(cluster))) return undefined;
      const namespace = clusterNamespaceName(
        cluster.metadata.namespace ?? "",
        cluster.metadata.name,
      );
      const tally = tallies.ofCluster(namespace);
      const summary = summarize({ tally, pending: 0, lookUp, nameOf: bundleKeyOf });
      return clusterStatus({
        cluster,
        namespace,
        summary,
        tally,
        ...(isLeaving(cluster) && { remaining: deploymentsOf(namespace) }),
        now: now(),
      });
    },
  });

  const groupWriter = createStatusWriter({
    rest,
    clock,
    log,
    resource: clusterGroups,
    store: caches.groups.store,
    isUrgent: isClusterGroupNews,
    compute: (group) => {
      const tally = groups.of(keyOf(group));
      const summary = summarize({
        tally,
        pending: 0,
        lookUp: worstDeploymentOf,
        nameOf: clusterKeyOf,
        unheardSince: (deployment) => unheardSince(clusterOf(deployment)),
      });
      return clusterGroupStatus({ group, tally, summary, now: now() });
    },
  });

  return {
    markHelmOp: helmOpWriter.mark,
    markBundle: (key) => {
      bundleWriter.mark(key);
      helmOpWriter.mark(key);
    },
    markBundleLater: (key) => {
      bundleWriter.markLater(key);
      helmOpWriter.markLater(key);
    },
    markCluster: clusterWriter.mark,
    markGroup: groupWriter.mark,
    markGroupLater: groupWriter.markLater,
    flush: async () => {
      await Promise.all(
        [helmOpWriter, bundleWriter, clusterWriter, groupWriter].map((writer) => writer.flush()),
      );
    },
  };
}
