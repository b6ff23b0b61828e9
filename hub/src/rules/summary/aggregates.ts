/**
 * The aggregates over BundleDeployments, by Bundle, cluster and ClusterGroup, kept equal to the informers. A cache: it is
 * counted from the stores when it starts, and may be dropped at any time.
 */
import { isDeepStrictEqual } from "node:util";
import {
  type BundleDeployment,
  bundleStates,
  type Cluster,
  type ClusterGroup,
} from "@flotilla/shared/api";
import { byNamespace, type Change } from "@flotilla/shared/kube/cache";
import {
  isExistenceChange,
  isSpecChange,
  type WatchSource,
} from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import {
  clusterKeyOf,
  clusterNamespaceNames,
  clusterNamespaceOf,
  presenceOf,
} from "../../base/index.ts";
import {
  createDeploymentAggregates,
  type DeploymentAggregates,
  noStates,
  worstOf,
} from "./bundle-aggregate.ts";
import { countStore } from "./count-store.ts";
import { deploymentMessage, stateWhileOffline } from "./deployment-state.ts";
import { createGroupAggregates, type GroupAggregate, type Member } from "./group-aggregate.ts";

export interface Aggregates extends Omit<DeploymentAggregates, "change" | "orphaned"> {
  ofGroup(key: ObjectKey): GroupAggregate;
  /** Counts a BundleDeployment as the store has it now: after a write of ours, before the watch delivers it. */
  recount(deployment: ObjectKey): void;
  /** Calls with the keys of ClusterGroups whose totals or messages changed; `isBurst`: thousands of changes may follow. */
  onGroupChange(listener: GroupListener): () => void;
  /** Counts what exists and follows changes; the result stops it. To be called before any other watch starts. */
  start(): () => void;
}

export type GroupListener = (group: ObjectKey, isBurst: boolean) => void;

export interface AggregateSources {
  readonly deployments: WatchSource<BundleDeployment>;
  readonly clusters: WatchSource<Cluster>;
  readonly groups: WatchSource<ClusterGroup>;
}

export function createAggregates({ deployments, clusters, groups }: AggregateSources): Aggregates {
  const counts = createDeploymentAggregates();
  const members = createGroupAggregates((cluster) => toMember(cluster, counts));
  const recount = countStore(deployments.store, counts, (deployment) => {
    const cluster = clusters.store.get(clusterKeyOf(deployment));
    if (cluster === undefined) return "deleted";
    return presenceOf(cluster) === "Connected" ? "connected" : "offline";
  });
  const listeners = new Set<GroupListener>();

  function notify(changed: readonly ObjectKey[], isBurst = false): void {
    for (const group of changed) for (const listener of listeners) listener(group, isBurst);
  }

  function recountCluster(key: ObjectKey, isBurst = false): void {
    const cluster = clusters.store.get(key);
    if (cluster !== undefined) notify(members.recount(cluster), isBurst);
  }

  function onDeployment({ key, before, after }: Change<BundleDeployment>): void {
    recount(key);
    const deployment = after ?? before;
    if (deployment === undefined) return;
    const cluster = clusterKeyOf(deployment);
    recountCluster(cluster);
    // A group names what is wrong in its clusters, also where the numbers stay the same.
    if (isOtherText(before, after)) notify(members.groupsOf(cluster), true);
  }

  function onCluster(change: Change<Cluster>): void {
    const { key, after } = change;
    const { namespace = "", name } = refOf(key);
    if (isSpecChange(change))
      notify(members.clusterChanged(key, after, groups.store.byIndex(byNamespace, namespace)));
    if (!isCountingChange(change)) return;
    for (const own of clusterNamespaceNames(namespace, name))
      for (const each of deployments.store.byIndex(byNamespace, own)) recount(keyOf(each));
    recountCluster(key, true);
  }

  function onGroup(change: Change<ClusterGroup>): void {
    if (!isSpecChange(change)) return;
    const { namespace = "" } = refOf(change.key);
    const candidates = clusters.store.byIndex(byNamespace, namespace);
    members.groupChanged(change.key, change.after, candidates);
    notify([change.key]);
  }

  return {
    ofBundle: counts.ofBundle,
    archivesOf: counts.archivesOf,
    orphanedOf: counts.orphanedOf,
    ofCluster: counts.ofCluster,
    ofGroup: members.of,
    recount,
    onGroupChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    start() {
      const stops = [
        deployments.onChange(onDeployment),
        clusters.onChange(onCluster),
        groups.onChange(onGroup),
      ];
      for (const deployment of deployments.store.list()) recount(keyOf(deployment));
      for (const group of groups.store.list()) onGroup({ key: keyOf(group), after: group });
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

/** Whether a summary says something else about a deployment. */
function isOtherText(
  before: BundleDeployment | undefined,
  after: BundleDeployment | undefined,
): boolean {
  if (before === undefined || after === undefined) return false;
  const textOf = (deployment: BundleDeployment) => [
    deploymentMessage(deployment),
    deployment.status?.nonReadyStatus,
    deployment.status?.modifiedStatus,
  ];
  return !isDeepStrictEqual(textOf(before), textOf(after));
}

/** Predicate: the agent of a cluster has connected, disconnected, or is another one. */
export function isPresenceChange({ before, after }: Change<Cluster>): boolean {
  return !isDeepStrictEqual(before?.status?.agent, after?.status?.agent);
}

/** Predicate: the deployments of a cluster count otherwise than before, in all that they count in. */
export function isCountingChange(change: Change<Cluster>): boolean {
  return isPresenceChange(change) || isExistenceChange(change);
}

/** What a cluster counts for in its groups. */
export function toMember(
  cluster: Cluster,
  counts: Pick<DeploymentAggregates, "ofCluster">,
): Member {
  const { states, total, resources } = counts.ofCluster(clusterNamespaceOf(cluster));
  const isOffline = presenceOf(cluster) !== "Connected";
  return {
    states: isOffline ? offlineStates(states) : { ...states },
    total,
    resources: { ...resources },
    isReady: !isOffline && worstOf(states) === "Ready",
    isOffline,
  };
}

function offlineStates(states: Member["states"]): Member["states"] {
  const offline = noStates();
  for (const state of bundleStates) offline[stateWhileOffline(state)] += states[state];
  return offline;
}
