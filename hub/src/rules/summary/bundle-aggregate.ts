/**
 * Aggregates over BundleDeployments, by Bundle and by cluster. One report changes a few numbers, whether there
 * are ten clusters or ten thousand.
 */
import {
  type BundleDeployment,
  type BundleState,
  bundleStates,
  type ResourceCounts,
} from "@flotilla/shared/api";
import { helmOpLabel } from "@flotilla/shared/api/names";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { bundleKeyOf } from "../../base/index.ts";
import { type Archives, createArchiveCounts } from "./archives.ts";
import { stateOf, stateWhileOffline } from "./deployment-state.ts";
import {
  createObjectAggregate,
  type MutableObjectAggregate,
  type ObjectAggregate,
  type ObjectStates,
} from "./object-aggregate.ts";
import { objectCounts, objectStates } from "./object-states.ts";
import { releaseConditionKeys } from "./release-conditions.ts";
import { createSortedKeys, type MutableSortedKeys, type SortedKeys } from "./sorted-keys.ts";
import { type Effort, effortOf } from "./stalled.ts";

/** The totals of one Bundle or one cluster. */
export interface Aggregate {
  readonly states: Readonly<Record<BundleState, number>>;
  readonly total: number;
  readonly resources: ResourceCounts;
  /** Keys of the BundleDeployments in each state. */
  readonly deployments: ReadonlyMap<BundleState, SortedKeys>;
  /** The ones among them that are a HelmOp's. */
  readonly helmOps: { readonly ready: number; readonly total: number };
  /** How many have each version of their chart installed, as agents reported. */
  readonly versions: ReadonlyMap<string, number>;
}

/** Offline clusters count with the state of `stateWhileOffline`. */
export interface BundleAggregate extends Aggregate {
  readonly objects: ObjectAggregate;
  /** Keys of all BundleDeployments in offline clusters, whatever their state. */
  readonly offline: SortedKeys;
  /** Keys of those with a condition of a release, as `Released=False`. */
  readonly conditions: ReadonlyMap<string, SortedKeys>;
  /** Keys of those that have failed for good, and of those that are worked on. */
  readonly efforts: ReadonlyMap<Effort, SortedKeys>;
}

export interface DeploymentAggregates {
  /** The counted fields of one BundleDeployment changed; absent before its creation and after its deletion. */
  change(before: Counted | undefined, after: Counted | undefined): void;
  /** A BundleDeployment of a deleted cluster was found (1), or is gone (-1). */
  orphaned(bundle: ObjectKey, by: 1 | -1): void;
  /** How many of a Bundle's are of deleted clusters. They count in nothing else. */
  orphanedOf(bundle: ObjectKey): number;
  /** By the key of the Bundle. */
  ofBundle(key: ObjectKey): BundleAggregate;
  /** What the clusters of a Bundle have installed. */
  archivesOf(key: ObjectKey): Archives;
  /** By the cluster's own namespace on the hub; of an offline cluster: as of then. */
  ofCluster(namespace: string): Aggregate;
}

interface MutableAggregate extends Aggregate {
  states: Record<BundleState, number>;
  total: number;
  resources: Record<keyof ResourceCounts, number>;
  deployments: Map<BundleState, MutableSortedKeys>;
  helmOps: { ready: number; total: number };
  versions: Map<string, number>;
}

interface MutableBundleAggregate extends MutableAggregate {
  readonly objects: MutableObjectAggregate;
  readonly offline: MutableSortedKeys;
  readonly conditions: Map<string, MutableSortedKeys>;
  readonly efforts: Map<Effort, MutableSortedKeys>;
}

/** What counts of one BundleDeployment. */
export interface Counted {
  readonly deployment: BundleDeployment;
  /** Whether its cluster is offline. */
  readonly isOffline: boolean;
  readonly key: ObjectKey;
  readonly bundle: ObjectKey;
  readonly cluster: string;
  /** The reported state. */
  readonly state: BundleState;
  readonly resources: ResourceCounts | undefined;
  readonly isHelmOps: boolean;
  /** The version of the chart that is installed; "" where none is. */
  readonly version: string;
  readonly objects: ObjectStates;
  /** The conditions of its release, as `Released=False`. */
  readonly conditions: readonly string[];
  readonly effort: Effort | undefined;
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
] as const satisfies readonly (keyof ResourceCounts)[];

const noObjects: ObjectStates = new Map();

/** The aggregate of a Bundle that went nowhere. */
export const emptyAggregate: BundleAggregate = newBundleAggregate();

/** The version that most have installed, of equally frequent ones the first by its text; "" when none has one. */
export function commonVersion({ versions }: Aggregate): string {
  let common: readonly [version: string, count: number] = ["", 0];
  for (const [version, count] of versions) {
    if (count > common[1] || (count === common[1] && version < common[0]))
      common = [version, count];
  }
  return common[0];
}

export function createDeploymentAggregates(): DeploymentAggregates {
  const bundles = new Map<ObjectKey, MutableBundleAggregate>();
  const clusters = new Map<string, MutableAggregate>();
  const archives = createArchiveCounts();
  const orphans = new Map<ObjectKey, number>();

  function change(before: Counted | undefined, after: Counted | undefined): void {
    const key = (after ?? before)?.key;
    if (key === undefined) return;
    const bundle = (after ?? before)?.bundle ?? "";
    const cluster = (after ?? before)?.cluster ?? "";
    const ofBundle = bundles.get(bundle) ?? newBundleAggregate();
    const ofCluster = clusters.get(cluster) ?? newAggregate();
    for (const [counted, by] of [
      [before, -1],
      [after, 1],
    ] as const) {
      if (counted === undefined) continue;
      archives.count(bundle, counted.deployment, by);
      count(ofBundle, counted, stateInBundle(counted), by);
      count(ofCluster, counted, counted.state, by);
    }
    ofBundle.offline.delete(key);
    if (after?.isOffline === true) ofBundle.offline.add(key);
    countUnder(ofBundle.conditions, key, before?.conditions ?? [], after?.conditions ?? []);
    countUnder(ofBundle.efforts, key, [before?.effort ?? []].flat(), [after?.effort ?? []].flat());
    ofBundle.objects.change(key, before?.objects ?? noObjects, after?.objects ?? noObjects);
    keep(bundles, bundle, ofBundle);
    keep(clusters, cluster, ofCluster);
  }

  return {
    change(before, after) {
      // Never seen in practice, and right all the same: it was made for another Bundle by then.
      const isMoved = before !== undefined && after !== undefined && before.bundle !== after.bundle;
      if (isMoved) {
        change(before, undefined);
        change(undefined, after);
      } else change(before, after);
    },
    orphaned(bundle, by) {
      const count = (orphans.get(bundle) ?? 0) + by;
      if (count === 0) orphans.delete(bundle);
      else orphans.set(bundle, count);
    },
    orphanedOf: (bundle) => orphans.get(bundle) ?? 0,
    ofBundle: (key) => bundles.get(key) ?? emptyAggregate,
    archivesOf: archives.of,
    ofCluster: (namespace) => clusters.get(namespace) ?? emptyAggregate,
  };
}

/** Adds the counts of one to totals, or subtracts them. */
export function addCounts(
  totals: Record<keyof ResourceCounts, number>,
  counts: ResourceCounts,
  by: 1 | -1,
): void {
  for (const field of resourceFields) totals[field] += by * counts[field];
}

export function noStates(): Record<BundleState, number> {
  return {
    ErrApplied: 0,
    WaitApplied: 0,
    Modified: 0,
    OutOfSync: 0,
    Pending: 0,
    NotReady: 0,
    Offline: 0,
    Ready: 0,
  };
}

export function noResources(): Record<keyof ResourceCounts, number> {
  return {
    ready: 0,
    desiredReady: 0,
    waitApplied: 0,
    modified: 0,
    orphaned: 0,
    missing: 0,
    unknown: 0,
    notReady: 0,
  };
}

/** The worst state that any of them is in; Ready when all are, and when there are none. */
export function worstOf(states: Readonly<Record<BundleState, number>>): BundleState {
  return bundleStates.find((state) => states[state] > 0) ?? "Ready";
}

/** `isOffline`: whether its cluster is offline. */
export function toCounted(deployment: BundleDeployment, isOffline = false): Counted {
  const state = stateOf(deployment);
  return {
    deployment,
    isOffline,
    key: keyOf(deployment),
    bundle: bundleKeyOf(deployment),
    cluster: deployment.metadata.namespace ?? "",
    state,
    resources: objectCounts(deployment),
    isHelmOps: deployment.metadata.labels?.[helmOpLabel] !== undefined,
    version: deployment.status?.version ?? "",
    objects: objectStates(deployment),
    conditions: releaseConditionKeys(deployment),
    effort: effortOf(deployment, { state, isOffline }),
  };
}

/** Keeps the key under those that apply after a change. */
function countUnder<T>(
  counts: Map<T, MutableSortedKeys>,
  key: ObjectKey,
  before: readonly T[],
  after: readonly T[],
): void {
  for (const each of before)
    if (!after.includes(each)) {
      const keys = counts.get(each);
      keys?.delete(key);
      if (keys?.size === 0) counts.delete(each);
    }
  for (const each of after) {
    const keys = counts.get(each) ?? createSortedKeys();
    keys.add(key);
    counts.set(each, keys);
  }
}

/** In its Bundle. */
function stateInBundle({ state, isOffline }: Counted): BundleState {
  return isOffline ? stateWhileOffline(state) : state;
}

function count(
  aggregate: MutableAggregate,
  counted: Counted,
  state: BundleState,
  by: 1 | -1,
): void {
  const { key, resources, isHelmOps, version } = counted;
  aggregate.states[state] += by;
  aggregate.total += by;
  if (resources !== undefined) addCounts(aggregate.resources, resources, by);
  if (isHelmOps) {
    aggregate.helmOps.total += by;
    if (state === "Ready") aggregate.helmOps.ready += by;
  }
  const keys = aggregate.deployments.get(state) ?? createSortedKeys();
  if (by === 1) keys.add(key);
  else keys.delete(key);
  aggregate.deployments.set(state, keys);
  countVersion(aggregate.versions, version, by);
}

function countVersion(versions: Map<string, number>, version: string, by: 1 | -1): void {
  if (version === "") return;
  const count = (versions.get(version) ?? 0) + by;
  if (count === 0) versions.delete(version);
  else versions.set(version, count);
}

function keep<T extends Aggregate>(aggregates: Map<string, T>, key: string, aggregate: T): void {
  if (aggregate.total === 0) aggregates.delete(key);
  else aggregates.set(key, aggregate);
}

function newAggregate(): MutableAggregate {
  return {
    states: noStates(),
    total: 0,
    resources: noResources(),
    deployments: new Map(),
    helmOps: { ready: 0, total: 0 },
    versions: new Map(),
  };
}

function newBundleAggregate(): MutableBundleAggregate {
  return {
    ...newAggregate(),
    objects: createObjectAggregate(),
    offline: createSortedKeys(),
    conditions: new Map(),
    efforts: new Map(),
  };
}
