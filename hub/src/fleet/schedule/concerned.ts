/** What a change of a Cluster, a ClusterGroup or a Schedule concerns: nothing else is looked at. */
import type { Cluster, ClusterGroup, Schedule } from "@flotilla/shared/api";
import { byNamespace, type Change, type Store } from "@flotilla/shared/kube/cache";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { isGroupMember, namesGroups, type Schedules, toTargetCluster } from "../../rules/index.ts";

export interface ConcernedDeps {
  readonly schedules: Pick<Store<Schedule>, "byIndex">;
  readonly clusters: Pick<Store<Cluster>, "byIndex">;
  readonly rules: Pick<Schedules, "isFor">;
}

/** Map functions of watches. */
export interface Concerned {
  /** The Schedules that begin or cease to be for a Cluster. */
  schedulesOfCluster(change: Change<Cluster>): readonly ObjectKey[];
  /** The Schedules that select by groups. */
  schedulesOfGroup(change: Change<ClusterGroup>): readonly ObjectKey[];
  /** The Clusters that a Schedule was for, as it was before. */
  clustersOfSchedule(change: Change<Schedule>): readonly ObjectKey[];
  /** The Clusters that begin or cease to be in a group, where a Schedule selects by groups. */
  clustersOfGroup(change: Change<ClusterGroup>): readonly ObjectKey[];
}

export function createConcerned({ schedules, clusters, rules }: ConcernedDeps): Concerned {
  const schedulesIn = (key: ObjectKey) => schedules.byIndex(byNamespace, namespaceOf(key));
  const clustersIn = (key: ObjectKey) => clusters.byIndex(byNamespace, namespaceOf(key));
  const byGroups = (key: ObjectKey) => schedulesIn(key).filter(namesGroups);

  return {
    schedulesOfCluster({ key, before, after }) {
      const isFor = (schedule: Schedule, cluster: Cluster | undefined) =>
        cluster !== undefined && rules.isFor(schedule, cluster);
      return schedulesIn(key)
        .filter((schedule) => isFor(schedule, before) !== isFor(schedule, after))
        .map(keyOf);
    },
    schedulesOfGroup: ({ key }) => byGroups(key).map(keyOf),
    clustersOfSchedule: ({ key, before }) =>
      before === undefined
        ? []
        : clustersIn(key)
            .filter((cluster) => rules.isFor(before, cluster))
            .map(keyOf),
    clustersOfGroup({ key, before, after }) {
      if (byGroups(key).length === 0) return [];
      return clustersIn(key)
        .filter((cluster) => {
          const target = toTargetCluster(cluster);
          return isGroupMember(target, before) !== isGroupMember(target, after);
        })
        .map(keyOf);
    },
  };
}

function namespaceOf(key: ObjectKey): string {
  return refOf(key).namespace ?? "";
}
