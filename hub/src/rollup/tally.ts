/**
 * Running totals over BundleDeployments, by Bundle and by cluster. One report changes a few numbers, whether there
 * are ten clusters or ten thousand.
 */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { bundleNameLabel, bundleNamespaceLabel } from "@flotilla/shared/api/names.ts";
import {
  type BundleState,
  bundleStates,
  type ResourceCounts,
} from "@flotilla/shared/api/summary.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/object.ts";
import { type Archives, createArchiveCounts } from "./archives.ts";
import { stateOf } from "./deployment-state.ts";

/** The totals of one Bundle or one cluster. */
export interface Tally {
  readonly states: Readonly<Record<BundleState, number>>;
  readonly total: number;
  readonly resources: ResourceCounts;
  /** Keys of the BundleDeployments in each state but Ready. */
  readonly unready: ReadonlyMap<BundleState, ReadonlySet<ObjectKey>>;
  /** How many have each version of their chart installed, as agents reported. */
  readonly versions: ReadonlyMap<string, number>;
}

export interface Tallies {
  /** One BundleDeployment changed; absent before it was made and after it is gone. */
  change(before: BundleDeployment | undefined, after: BundleDeployment | undefined): void;
  /** By the key of the Bundle. */
  ofBundle(key: ObjectKey): Tally;
  /** What the clusters of a Bundle have installed. */
  archivesOf(key: ObjectKey): Archives;
  /** By the cluster's own namespace on the hub. */
  ofCluster(namespace: string): Tally;
}

interface RunningTally {
  states: Record<BundleState, number>;
  total: number;
  resources: Record<keyof ResourceCounts, number>;
  unready: Map<BundleState, Set<ObjectKey>>;
  versions: Map<string, number>;
}

const resourceFields = [
  "ready",
  "desiredReady",
  "waitApplied",
  "modified",
  "orphaned",
  "missing",
  "unknown",
  "notReady",
] as const;

/** That of a Bundle that went nowhere. */
export const noTally: Tally = emptyTally();

/** The key of the Bundle that a BundleDeployment was made for. */
export function bundleKeyOf(deployment: BundleDeployment): ObjectKey {
  const labels = deployment.metadata.labels ?? {};
  return keyOf({
    namespace: labels[bundleNamespaceLabel] ?? "",
    name: labels[bundleNameLabel] ?? "",
  });
}

/** The version that most have installed, of several the first by its text; "" when nobody has any. */
export function commonVersion({ versions }: Tally): string {
  let common: readonly [version: string, count: number] = ["", 0];
  for (const [version, count] of versions) {
    if (count > common[1] || (count === common[1] && version < common[0]))
      common = [version, count];
  }
  return common[0];
}

export function createTallies(): Tallies {
  const bundles = new Map<ObjectKey, RunningTally>();
  const clusters = new Map<string, RunningTally>();
  const archives = createArchiveCounts();

  function count(
    map: Map<string, RunningTally>,
    key: string,
    deployment: BundleDeployment,
    by: 1 | -1,
  ): void {
    let tally = map.get(key);
    if (tally === undefined) {
      tally = emptyTally();
      map.set(key, tally);
    }
    const state = stateOf(deployment);
    tally.states[state] += by;
    tally.total += by;
    const counts = deployment.status?.resourceCounts;
    if (counts !== undefined)
      for (const field of resourceFields) tally.resources[field] += by * counts[field];
    if (state !== "Ready") {
      const keys = tally.unready.get(state) ?? new Set();
      tally.unready.set(state, keys);
      if (by === 1) keys.add(keyOf(deployment));
      else keys.delete(keyOf(deployment));
    }
    countVersion(tally.versions, deployment.status?.version ?? "", by);
    if (tally.total === 0) map.delete(key);
  }

  return {
    change(before, after) {
      for (const [deployment, by] of [
        [before, -1],
        [after, 1],
      ] as const) {
        if (deployment === undefined) continue;
        const bundle = bundleKeyOf(deployment);
        count(bundles, bundle, deployment, by);
        archives.count(bundle, deployment, by);
        count(clusters, deployment.metadata.namespace ?? "", deployment, by);
      }
    },
    ofBundle: (key) => bundles.get(key) ?? noTally,
    archivesOf: archives.of,
    ofCluster: (namespace) => clusters.get(namespace) ?? noTally,
  };
}

function emptyTally(): RunningTally {
  return {
    states: Object.fromEntries(bundleStates.map((state) => [state, 0])) as Record<
      BundleState,
      number
    >,
    total: 0,
    resources: Object.fromEntries(resourceFields.map((field) => [field, 0])) as Record<
      keyof ResourceCounts,
      number
    >,
    unready: new Map(),
    versions: new Map(),
  };
}

function countVersion(versions: Map<string, number>, version: string, by: 1 | -1): void {
  if (version === "") return;
  const count = (versions.get(version) ?? 0) + by;
  if (count === 0) versions.delete(version);
  else versions.set(version, count);
}
