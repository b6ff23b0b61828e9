/** The staged rollouts of apps, with the stage of each cluster, from the caches. The caller checks the rights. */
import type {
  Bundle,
  BundleDeployment,
  Cluster,
  ClusterGroup,
  RolloutStage,
  Schedule,
} from "@flotilla/shared/api";
import {
  type BundleRollout,
  type Gate,
  maxNamed,
  type RolloutPolicy,
} from "@flotilla/shared/api/rollout";
import type {
  Rollout,
  RolloutRecord,
  RolloutStageView,
  StagedRelease,
} from "@flotilla/shared/dashboard";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import {
  byBundle,
  byRolledOutBundle,
  byRolloutNamespace,
  clusterKeyOf,
  presenceOf,
} from "../../base/index.ts";
import {
  assignStages,
  createMappings,
  createRolloutStrategies,
  createSchedules,
  explainTarget,
  type MappingSources,
  type Mappings,
  type RolloutStrategies,
  stagesOf,
  type TargetGroup,
  toTargetCluster,
  toTargetGroup,
} from "../../rules/index.ts";
import { appRolloutOf, recordOf, rolloutOf, stagedReleaseOf } from "./rollout-of.ts";
import { shownSchedule, shownStageWindow } from "./shown-window.ts";

const maxHistory = 20;

export interface StagedRolloutsDeps extends MappingSources {
  readonly rollouts: { readonly store: Pick<Store<BundleRollout>, "get" | "byIndex"> };
  readonly gates: { readonly store: Pick<Store<Gate>, "get"> };
  readonly schedules: { readonly store: Pick<Store<Schedule>, "get" | "byIndex"> };
  readonly groups: { readonly store: Pick<Store<ClusterGroup>, "byIndex"> };
  readonly rolloutPolicies: { readonly store: Pick<Store<RolloutPolicy>, "get"> };
  readonly clusters: { readonly store: Pick<Store<Cluster>, "get" | "byIndex"> };
  readonly deployments: { readonly store: Pick<Store<BundleDeployment>, "byIndex"> };
}

/** What a user may see besides BundleRollouts. */
export interface SeenParts {
  readonly gates: boolean;
  readonly schedules: boolean;
}

/** What a rollback changes, in numbers. */
export interface RollbackCounts {
  /** Clusters that had something before. */
  readonly back: number;
  /** Clusters that had nothing, and keep what they have. */
  readonly kept: number;
}

/** The rollouts of a Bundle, the newest first; what was made for another Bundle of that name does not count. */
export function rolloutsOfBundle(
  rollouts: StagedRolloutsDeps["rollouts"],
  bundle: Bundle,
): readonly BundleRollout[] {
  return rollouts.store
    .byIndex(byRolledOutBundle, keyOf(bundle))
    .filter(
      ({ metadata, spec }) =>
        metadata.deletionTimestamp === undefined && spec.bundle.uid === bundle.metadata.uid,
    )
    .toSorted((one, other) => other.spec.number - one.spec.number);
}

export class StagedRolloutViews {
  readonly #deps: StagedRolloutsDeps;
  readonly #mappings: Mappings;
  readonly #strategies: RolloutStrategies;
  readonly #schedules: ReturnType<typeof createSchedules>;

  constructor(deps: StagedRolloutsDeps) {
    this.#deps = deps;
    this.#mappings = createMappings(deps);
    this.#strategies = createRolloutStrategies(deps.rolloutPolicies.store);
    this.#schedules = createSchedules({
      schedules: deps.schedules.store,
      groups: deps.groups.store,
    });
  }

  /** The newest one. */
  newest(bundle: Bundle): BundleRollout | undefined {
    return rolloutsOfBundle(this.#deps.rollouts, bundle)[0];
  }

  current(bundle: Bundle, seen: SeenParts, nowMs: number): Omit<Rollout, "actions"> | undefined {
    const rollout = this.newest(bundle);
    if (rollout === undefined) return undefined;
    const { namespace = "" } = bundle.metadata;
    const members = this.#members(bundle, rollout);
    return rolloutOf({
      rollout,
      strategy: this.#isKnown(bundle, rollout) ? this.#stagesOf(bundle) : [],
      gateOf: ({ gate, uid }) => {
        const found = seen.gates
          ? this.#deps.gates.store.get(keyOf({ namespace, name: gate }))
          : undefined;
        return found !== undefined && found.metadata.uid === uid ? found : undefined;
      },
      missing: (stage) => missingOf(members(stage), rollout),
      windows: (stage) =>
        seen.schedules ? this.#windowsOf(bundle, { rollout, stage, members, nowMs }) : [],
    });
  }

  history(bundle: Bundle): RolloutRecord[] {
    return rolloutsOfBundle(this.#deps.rollouts, bundle).slice(0, maxHistory).map(recordOf);
  }

  rollbackCounts(bundle: Bundle, rollout: BundleRollout): RollbackCounts {
    const promoted = this.#deps.deployments.store
      .byIndex(byBundle, keyOf(bundle))
      .filter(
        ({ spec }) =>
          spec.promotion?.rollout === rollout.metadata.name &&
          rollout.spec.targets.some((target) => target.deploymentID === spec.deploymentID),
      );
    const kept = promoted.filter(({ spec }) => spec.promotion?.from === "").length;
    return { back: promoted.length - kept, kept };
  }

  /** What a cluster has of the newest rollout. `deployment`: undefined where it has nothing yet. */
  release(
    bundle: Bundle,
    cluster: Cluster,
    deployment: BundleDeployment | undefined,
  ): StagedRelease | undefined {
    const rollout = this.newest(bundle);
    if (rollout === undefined) return undefined;
    return stagedReleaseOf(rollout, {
      cluster: keyOf(cluster),
      deploymentID: deployment?.spec.deploymentID ?? "",
      stage: this.#isKnown(bundle, rollout) ? this.#stageOf(bundle, cluster) : null,
    });
  }

  /** The Bundles whose rollout is to reach a cluster that has nothing of them yet. `has`: the keys of the others. */
  awaited(cluster: Cluster, has: ReadonlySet<ObjectKey>): readonly Bundle[] {
    const { namespace = "" } = cluster.metadata;
    const groups = this.#groupsOf(namespace);
    return this.#mappings.bundlesFor(namespace, byRolloutNamespace).filter((bundle) => {
      const rollout = has.has(keyOf(bundle)) ? undefined : this.newest(bundle);
      const isRunning = rollout !== undefined && appRolloutOf(rollout) !== undefined;
      return isRunning && isTarget(bundle, cluster, groups);
    });
  }

  /** The Schedules that are for a cluster. */
  windowsOfCluster(cluster: Cluster, nowMs: number) {
    return this.#schedulesFor([cluster]).map((schedule) => shownSchedule(schedule, nowMs));
  }

  #schedulesFor(clusters: readonly Cluster[]): readonly Schedule[] {
    return namespacesOf(clusters)
      .flatMap((each) => this.#deps.schedules.store.byIndex(byNamespace, each))
      .filter((schedule) => clusters.some((each) => this.#schedules.isFor(schedule, each)))
      .toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
      .slice(0, maxNamed);
  }

  #windowsOf(
    bundle: Bundle,
    {
      rollout,
      stage,
      members,
      nowMs,
    }: {
      readonly rollout: BundleRollout;
      readonly stage: string;
      readonly members: (stage: string) => readonly Member[];
      readonly nowMs: number;
    },
  ): RolloutStageView["windows"] {
    const status = rollout.status?.stages?.find((each) => each.name === stage);
    if (status === undefined || status.offSchedule === 0) return [];
    const { namespace = "" } = bundle.metadata;
    const own = this.#stagesOf(bundle).find((each) => each.name === stage);
    const ofStage = (own?.windows ?? []).flatMap((window) => {
      const named = window.schedule
        ? this.#deps.schedules.store.get(keyOf({ namespace, name: window.schedule }))
        : undefined;
      const shown =
        named === undefined ? shownStageWindow(window, nowMs) : shownSchedule(named, nowMs);
      return shown === undefined ? [] : [{ ...shown, deny: window.deny === true }];
    });
    const clusters = members(stage).map(({ cluster }) => cluster);
    const ofClusters = this.#schedulesFor(clusters).map((each) => shownSchedule(each, nowMs));
    return [...ofStage, ...ofClusters].slice(0, maxNamed);
  }

  /** Computed where it is asked for. */
  #members(bundle: Bundle, rollout: BundleRollout): (stage: string) => readonly Member[] {
    let known: Map<string, Member[]> | undefined;
    const find = () => {
      const found = new Map<string, Member[]>();
      const placed = this.#placed(bundle);
      const assigned = this.#assign(
        bundle,
        placed.map(({ cluster }) => cluster),
      );
      for (const member of placed) {
        const stage = assigned.get(keyOf(member.cluster));
        if (stage === undefined) continue;
        const own = found.get(stage) ?? [];
        own.push(member);
        found.set(stage, own);
      }
      return found;
    };
    return (stage) => {
      const status = rollout.status?.stages?.find((each) => each.name === stage);
      const isComplete =
        (status?.offline ?? 0) + (status?.paused ?? 0) + (status?.offSchedule ?? 0) === 0;
      if (isComplete || !this.#isKnown(bundle, rollout)) return [];
      known ??= find();
      return known.get(stage) ?? [];
    };
  }

  /** Those that it is deployed to, and the targets that have nothing yet. */
  #placed(bundle: Bundle): readonly Member[] {
    const placed = new Map<ObjectKey, Member>();
    for (const deployment of this.#deps.deployments.store.byIndex(byBundle, keyOf(bundle))) {
      const cluster = this.#deps.clusters.store.get(clusterKeyOf(deployment));
      if (cluster !== undefined) placed.set(keyOf(cluster), { cluster, deployment });
    }
    for (const namespace of this.#mappings.namespacesOf(bundle)) {
      const groups = this.#groupsOf(namespace);
      for (const cluster of this.#deps.clusters.store.byIndex(byNamespace, namespace))
        if (!placed.has(keyOf(cluster)) && isTarget(bundle, cluster, groups))
          placed.set(keyOf(cluster), { cluster, deployment: undefined });
    }
    return [...placed.values()];
  }

  #groupsOf(namespace: string): readonly TargetGroup[] {
    return this.#deps.groups.store.byIndex(byNamespace, namespace).map(toTargetGroup);
  }

  /** By key of the cluster. */
  #assign(bundle: Bundle, clusters: readonly Cluster[]): ReadonlyMap<ObjectKey, string> {
    const groups = namespacesOf(clusters).flatMap((each) => this.#groupsOf(each));
    const staged = clusters.map((each) => ({ ...toTargetCluster(each), key: keyOf(each) }));
    return assignStages(this.#stagesOf(bundle), staged, groups);
  }

  #stageOf(bundle: Bundle, cluster: Cluster): string | undefined {
    // With a share of the clusters, which of them are in it depends on all.
    const isShared = this.#stagesOf(bundle).some(({ upTo }) => upTo !== undefined);
    const among = isShared ? this.#placed(bundle).map((each) => each.cluster) : [cluster];
    return this.#assign(bundle, among).get(keyOf(cluster));
  }

  /** Its own, or the ones of the RolloutPolicy that it names. */
  #stagesOf(bundle: Bundle): readonly RolloutStage[] {
    return stagesOf(this.#strategies.strategyOf(bundle) ?? {});
  }

  /** Whether its stages are those that are rolled out: they may have changed. */
  #isKnown(bundle: Bundle, { status }: BundleRollout): boolean {
    const names = new Set(status?.stages?.map(({ name }) => name));
    return this.#stagesOf(bundle).every(({ name }) => names.has(name));
  }
}

interface Member {
  readonly cluster: Cluster;
  /** Undefined: there is none yet. */
  readonly deployment: BundleDeployment | undefined;
}

function namespacesOf(clusters: readonly Cluster[]): readonly string[] {
  return [...new Set(clusters.map(({ metadata }) => metadata.namespace ?? ""))];
}

function isTarget({ spec }: Bundle, cluster: Cluster, groups: readonly TargetGroup[]): boolean {
  return explainTarget(toTargetCluster(cluster), spec, groups).isTarget;
}

/** The first members that do not have the revision and cannot get it now. */
function missingOf(
  members: readonly Member[],
  { spec }: BundleRollout,
): RolloutStageView["missing"] {
  return members
    .filter(
      ({ deployment }) =>
        !spec.targets.some((target) => target.deploymentID === deployment?.spec.deploymentID),
    )
    .flatMap(({ cluster, deployment }) => {
      const why = whyMissing(cluster, deployment);
      return why === undefined ? [] : [{ cluster: keyOf(cluster), why }];
    })
    .toSorted((one, other) => (one.cluster < other.cluster ? -1 : 1))
    .slice(0, maxNamed);
}

function whyMissing(
  cluster: Cluster,
  deployment: BundleDeployment | undefined,
): RolloutStageView["missing"][number]["why"] | undefined {
  const { spec, status } = cluster;
  if (spec.paused === true || deployment?.spec.paused === true) return "paused";
  if (presenceOf(cluster) !== "Connected") return "offline";
  return status?.scheduled === true && status.activeSchedule !== true ? "offSchedule" : undefined;
}
