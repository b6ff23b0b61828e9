/**
 * The Bundles that a change of a Cluster concerns: those that are, were or may be deployed there, and not all of the namespace.
 * Each of thousands of Bundles may have a thousand targets, so they are compared with pauses. Until then the changes of a
 * namespace wait, and the changes of one cluster are compared together: what waits is bounded by the clusters.
 */
import { isDeepStrictEqual } from "node:util";
import type { Bundle, BundleStatus, Cluster } from "@flotilla/shared/api";
import { createTimeSlices, type TimeSlices } from "@flotilla/shared/concurrency";
import { findCondition } from "@flotilla/shared/conditions";
import { byNamespace, type Change } from "@flotilla/shared/kube/cache";
import { isSpecChange, type Watch } from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import {
  bundleKeyOf,
  type ControllerDeps,
  clusterNamespaceNames,
  type Publisher,
} from "../../base/index.ts";
import {
  type Mappings,
  type TargetCluster,
  targetsFor,
  toTargetCluster,
  toTargetGroup,
} from "../../rules/index.ts";
import { targetsMissing } from "./decided-status.ts";

export interface ClusterWatchDeps {
  readonly caches: Pick<ControllerDeps["caches"], "clusters" | "deployments" | "groups">;
  readonly mappings: Pick<Mappings, "bundlesFor">;
  readonly statuses: Pick<Publisher<BundleStatus, Bundle>, "current">;
  readonly createSlices?: () => TimeSlices;
}

/**
 * By cluster: what it was and is since the last comparison, as targets see it. A Bundle may have been deployed by any of these.
 * `every`: it changed more often than is remembered, so every Bundle may have been.
 */
type Waiting = Map<ObjectKey, readonly TargetCluster[] | "every">;

/** The limit of one cluster: mostly two, before and after. */
const maxStates = 8;

/** A Watch of the Clusters that delivers keys of Bundles. It replays nothing: a Bundle is replayed itself. */
export function clusterWatch({
  caches: { clusters, deployments, groups },
  mappings,
  statuses,
  createSlices = createTimeSlices,
}: ClusterWatchDeps): Watch {
  return {
    start(enqueue) {
      const waiting = new Map<string, Waiting>();
      let isStopped = false;

      async function compareAll(namespace: string): Promise<void> {
        const slices = createSlices();
        for (;;) {
          await slices.pause();
          const changed = waiting.get(namespace);
          if (isStopped || changed === undefined || changed.size === 0) break;
          waiting.set(namespace, new Map());
          await compare(namespace, changed, slices);
        }
        waiting.delete(namespace);
      }

      async function compare(
        namespace: string,
        waited: Waiting,
        slices: TimeSlices,
      ): Promise<void> {
        const changed = [...waited.values()];
        const deployed = new Set([...waited.keys()].flatMap(deployedTo));
        const states = changed.flatMap((each) => (each === "every" ? [] : each));
        const isTarget = changed.includes("every")
          ? () => Promise.resolve(true)
          : await targetsAny(namespace, states, slices);
        for (const bundle of mappings.bundlesFor(namespace)) {
          const isConcerned =
            deployed.has(keyOf(bundle)) || isMissingTargets(bundle) || (await isTarget(bundle));
          if (isStopped) return;
          if (isConcerned) enqueue(keyOf(bundle));
          if (slices.isOver) await slices.pause();
        }
      }

      /** What was compared is not known: each Bundle finds its clusters itself, and reports what is wrong with it. */
      function enqueueAll(namespace: string): void {
        waiting.delete(namespace);
        if (isStopped) return;
        for (const bundle of mappings.bundlesFor(namespace)) enqueue(keyOf(bundle));
      }

      const stop = clusters.onChange((change) => {
        if (!isTargetingChange(change)) return;
        const { namespace = "" } = refOf(change.key);
        const changed = waiting.get(namespace);
        const ofNamespace: Waiting = changed ?? new Map();
        ofNamespace.set(change.key, withStates(ofNamespace.get(change.key) ?? [], change));
        waiting.set(namespace, ofNamespace);
        if (changed === undefined) compareAll(namespace).catch(() => enqueueAll(namespace));
      });
      return () => {
        isStopped = true;
        stop();
      };
    },
  };

  /** Groups and Bundles as they are now: a change of theirs enqueues what it concerns itself. */
  async function targetsAny(
    namespace: string,
    states: readonly TargetCluster[],
    slices: TimeSlices,
  ): Promise<(bundle: Bundle) => Promise<boolean>> {
    const targetGroups = groups.store.byIndex(byNamespace, namespace).map(toTargetGroup);
    const finders: Awaited<ReturnType<typeof targetsFor>>[] = [];
    for (const state of states) finders.push(await targetsFor(state, targetGroups, slices));
    return async ({ spec }) => {
      for (const targetOf of finders) {
        if ((await targetOf(spec)).length > 0) return true;
        if (slices.isOver) await slices.pause();
      }
      return false;
    };
  }

  /** What no target matches any more may wait there for a window, which the labels of the cluster decide. */
  function deployedTo(cluster: ObjectKey): readonly ObjectKey[] {
    const { namespace = "", name } = refOf(cluster);
    return clusterNamespaceNames(namespace, name)
      .flatMap((each) => deployments.store.byIndex(byNamespace, each))
      .map(bundleKeyOf);
  }

  function isMissingTargets(bundle: Bundle): boolean {
    const accepted = findCondition(statuses.current(bundle)?.conditions, "Accepted");
    return accepted?.reason === targetsMissing;
  }
}

function withStates(
  known: readonly TargetCluster[] | "every",
  { before, after }: Change<Cluster>,
): readonly TargetCluster[] | "every" {
  if (known === "every") return known;
  let states = known;
  for (const cluster of [before, after]) {
    if (cluster === undefined) continue;
    const state = toTargetCluster(cluster);
    if (!states.some((each) => isDeepStrictEqual(each, state))) states = [...states, state];
  }
  return states.length > maxStates ? "every" : states;
}

/** Predicate: Bundles may be deployed to a cluster now that were not, or the other way round. */
export function isTargetingChange(change: Change<Cluster>): boolean {
  return (
    isSpecChange(change) || change.before?.status?.namespace !== change.after?.status?.namespace
  );
}
