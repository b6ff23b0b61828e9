/** The publisher of the statuses of ClusterGroups. A group has nothing to reconcile: targets read its selector. */

import {
  type BundleDeployment,
  type ClusterGroup,
  type ClusterGroupStatus,
  clusterGroups,
} from "@flotilla/shared/api";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { formatTimeMs } from "@flotilla/shared/time";
import {
  type ControllerDeps,
  clusterKeyOf,
  clusterNamespaceOf,
  createPublisher,
  offlineSince,
  type Publisher,
} from "../../base/index.ts";
import { type Aggregates, summarize, worstOf } from "../../rules/index.ts";
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
  function worstDeploymentOf(member: ObjectKey): BundleDeployment | undefined {
    const cluster = clusters.store.get(member);
    if (cluster === undefined) return undefined;
    const aggregate = aggregates.ofCluster(clusterNamespaceOf(cluster));
    const [key] = aggregate.deployments.get(worstOf(aggregate.states))?.first(1) ?? [];
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
      const aggregate = aggregates.ofGroup(keyOf(group));
      const summary = summarize({
        aggregate,
        pending: 0,
        lookUp: worstDeploymentOf,
        nameOf: clusterKeyOf,
        unheardSince: (deployment) => offlineSince(clusters.store.get(clusterKeyOf(deployment))),
      });
      return clusterGroupStatus({
        group,
        aggregate,
        summary,
        now: formatTimeMs(clock.now()),
      });
    },
  });
}
