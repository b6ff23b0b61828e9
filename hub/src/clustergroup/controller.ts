/** The publisher of the statuses of ClusterGroups. A group has nothing to reconcile: targets read its selector. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { ClusterGroup, ClusterGroupStatus } from "@flotilla/shared/api/cluster-group.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import { clusterGroups } from "@flotilla/shared/api/resources.ts";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects/object.ts";
import type { ControllerDeps } from "../cache/deps.ts";
import { clusterKeyOf } from "../cache/keys.ts";
import { offlineSince } from "../clusterstate/presence.ts";
import { createPublisher, type Publisher } from "../status/publisher.ts";
import type { Aggregates } from "../summary/aggregates.ts";
import { worstOf } from "../summary/bundle-aggregate.ts";
import { summarize } from "../summary/summarize.ts";
import { clusterGroupStatus, isUrgentClusterGroup } from "./status.ts";

export interface ClusterGroupPublisherDeps
  extends Pick<ControllerDeps, "rest" | "caches" | "clock" | "log"> {
  readonly aggregates: Aggregates;
}

export function createClusterGroupPublisher({
  rest,
  caches,
  aggregates,
  clock,
  log,
}: ClusterGroupPublisherDeps): Publisher<ClusterGroupStatus, ClusterGroup> {
  const { clusters, deployments, groups } = caches;

  /** What a group shows of a cluster. */
  function worstDeploymentOf(cluster: ObjectKey): BundleDeployment | undefined {
    const { namespace = "", name } = refOf(cluster);
    const tally = aggregates.ofCluster(clusterNamespaceName(namespace, name));
    const [key] = tally.deployments.get(worstOf(tally.states))?.first(1) ?? [];
    return key === undefined ? undefined : deployments.store.get(key);
  }

  return createPublisher<ClusterGroupStatus, ClusterGroup>({
    rest,
    clock,
    log,
    resource: clusterGroups,
    store: groups.store,
    isUrgent: isUrgentClusterGroup,
    rollUp(group) {
      const tally = aggregates.ofGroup(keyOf(group));
      const summary = summarize({
        tally,
        pending: 0,
        lookUp: worstDeploymentOf,
        nameOf: clusterKeyOf,
        unheardSince: (deployment) => offlineSince(clusters.store.get(clusterKeyOf(deployment))),
      });
      return clusterGroupStatus({
        group,
        tally,
        summary,
        now: new Date(clock.now()).toISOString(),
      });
    },
  });
}
