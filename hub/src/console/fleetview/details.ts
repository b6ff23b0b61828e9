/** One app, cluster, release or source with all that the caches have about it. The caller checks the rights. */
import {
  answerLines,
  type Bundle,
  type BundleDeployment,
  type Cluster,
  type ClusterGroup,
  requestAnswers,
} from "@flotilla/shared/api";
import { appKinds } from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import { type BundleRollout, maxNamed, type RolloutPolicy } from "@flotilla/shared/api/rollout";
import type {
  AppDetail,
  AppRef,
  ClusterDetail,
  ClusterRef,
  ClusterRelease,
  ReleaseDetail,
  Rollout,
  RolloutRecord,
  SourceDetail,
  SourceKind,
  Target,
  VersionRecord,
} from "@flotilla/shared/dashboard";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import { type Event, type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import { bundleKeyOf, byBundle, clusterKeyOf, isForCluster, presenceOf } from "../../base/index.ts";
import { createAppViews } from "../../frontends/index.ts";
import {
  type AppViews,
  appObject,
  appRefOf,
  appRefOfDeployment,
  createMappings,
  explainTarget,
  type MappingSources,
  type Mappings,
  shownConditions,
  shownPolling,
  toTargetCluster,
  toTargetGroup,
} from "../../rules/index.ts";
import { agentOf } from "./agent-of.ts";
import { clusterOf } from "./cluster-of.ts";
import { eventsAbout, yamlOf } from "./conditions.ts";
import { releaseDetailOf, releaseOf } from "./release-of.ts";
import type { ShownCaches } from "./shown-caches.ts";
import { sourceOf } from "./source-of.ts";
import { type RollbackCounts, type SeenParts, StagedRolloutViews } from "./staged-rollouts.ts";
import { versionHistoryOf } from "./version-history.ts";

/** What depends on the rights of the user is added by the caller. */
export type Unreviewed<T> = Omit<T, "actions" | "requests">;

export interface FleetDetailsDeps extends ShownCaches {
  readonly groups: { readonly store: Pick<Store<ClusterGroup>, "byIndex"> };
  readonly mappings: MappingSources["mappings"];
  readonly workspaces: MappingSources["workspaces"];
  readonly rolloutPolicies: { readonly store: Pick<Store<RolloutPolicy>, "get"> };
  /** The version of the hub. */
  readonly version: string;
}

/** Who looks at a cluster, and when. */
export interface ClusterViewer {
  /** Whether the user may see the apps of that kind in that namespace. */
  readonly sees: (app: AppRef) => boolean;
  readonly seesRollouts: (namespace: string) => boolean;
  readonly seesSchedules: boolean;
  readonly nowMs: number;
}

/** What the user sees of an app's staged rollouts. */
export interface ShownRollouts {
  /** The newest one; undefined: there is none. */
  readonly current: Omit<Rollout, "actions"> | undefined;
  /** The same as the API server has it. */
  readonly rollout: BundleRollout | undefined;
  readonly counts: RollbackCounts;
  readonly history: RolloutRecord[];
}

const noRollouts: ShownRollouts = {
  current: undefined,
  rollout: undefined,
  counts: { back: 0, kept: 0 },
  history: [],
};

/** The results are undefined if there is no such object. */
export class FleetDetails {
  readonly #deps: FleetDetailsDeps;
  readonly #views: AppViews;
  readonly #rollouts: StagedRolloutViews;
  readonly #mappings: Mappings;

  constructor(deps: FleetDetailsDeps) {
    this.#deps = deps;
    this.#rollouts = new StagedRolloutViews(deps);
    this.#views = createAppViews(deps.apps);
    this.#mappings = createMappings(deps);
  }

  app(ref: AppRef): Unreviewed<AppDetail> | undefined {
    const object = this.#objectOf(ref);
    if (object === undefined) return undefined;
    const { appOf, detailsOf } = this.#views[ref.kind];
    const bundle = this.#bundleOf(ref);
    return {
      ...appOf(object),
      ...commonOf(ref.kind, object, this.#deps.events.store.list()),
      ...this.#lastRequest(bundle),
      ...detailsOf(object, bundle),
    };
  }

  targets(ref: AppRef): readonly Target[] | undefined {
    const { groups, clusters } = this.#deps;
    const bundle = this.#bundleOf(ref);
    const object = this.#objectOf(ref);
    const spec = bundle?.spec ?? (object && this.#views[ref.kind].targetsOf?.(object));
    if (spec === undefined) return object === undefined ? undefined : [];
    // Without its Bundle the labels by which mappings select it are not known.
    const namespaces = bundle === undefined ? [ref.namespace] : this.#mappings.namespacesOf(bundle);
    const own = namespaces.flatMap((each) =>
      groups.store.byIndex(byNamespace, each).map(toTargetGroup),
    );
    const deployed = new Map(
      this.#deploymentsOf(bundle).map(
        (deployment) => [clusterKeyOf(deployment), deployment] as const,
      ),
    );
    const candidates = namespaces.flatMap((each) => clusters.store.byIndex(byNamespace, each));
    return candidates.map((cluster) => {
      const deployment = deployed.get(keyOf(cluster));
      const release = deployment && bundle && releaseOf({ app: ref, bundle, deployment, cluster });
      return {
        namespace: cluster.metadata.namespace ?? "",
        name: cluster.metadata.name,
        ...explainTarget(toTargetCluster(cluster), spec, own),
        ...(release !== undefined && releasedOf(release)),
      };
    });
  }

  history(ref: AppRef): readonly VersionRecord[] | undefined {
    if (this.#objectOf(ref) === undefined) return undefined;
    return versionHistoryOf(this.#deploymentsOf(this.#bundleOf(ref)));
  }

  /** What the user sees of its staged rollouts, and the newest one itself. `nowMs`: for windows. */
  rollouts(ref: AppRef, seen: SeenParts, nowMs: number): ShownRollouts | undefined {
    if (this.#objectOf(ref) === undefined) return undefined;
    const bundle = this.#bundleOf(ref);
    if (bundle === undefined) return noRollouts;
    const rollout = this.#rollouts.newest(bundle);
    return {
      current: this.#rollouts.current(bundle, seen, nowMs),
      rollout,
      counts:
        rollout === undefined ? noRollouts.counts : this.#rollouts.rollbackCounts(bundle, rollout),
      history: this.#rollouts.history(bundle),
    };
  }

  /** Whether the objects of one of its releases differ from what was installed, as far as drift is detected. */
  hasDrift(ref: AppRef): boolean {
    return this.#deploymentsOf(this.#bundleOf(ref)).some(
      ({ status }) => status?.nonModified === false || (status?.modifiedStatus ?? []).length > 0,
    );
  }

  /** Whether its source is polled. */
  isPolled(ref: AppRef): boolean {
    const object = this.#objectOf(ref);
    return object !== undefined && (this.#views[ref.kind].isPolled?.(object) ?? false);
  }

  /** What of the cluster the user does not see is not in it. */
  cluster(
    ref: ClusterRef,
    { sees, seesRollouts, seesSchedules, nowMs }: ClusterViewer,
  ): Unreviewed<ClusterDetail> | undefined {
    const { clusters, events, version } = this.#deps;
    const cluster = clusters.store.get(keyOf(ref));
    if (cluster === undefined) return undefined;
    const { status } = cluster;
    const releases = this.#releasesOf(cluster, seesRollouts);
    const seen = releases.filter((release) => sees(release.app));
    return {
      ...clusterOf(cluster),
      ...commonOf("Cluster", cluster, events.store.list()),
      conditions: shownConditions(status?.conditions),
      agent: agentOf(cluster, version),
      releases: seen,
      hiddenReleases: releases.length - seen.length,
      orphans: [...(status?.orphans ?? [])],
      awaited: this.#awaitedIn(cluster, { sees, seesRollouts }),
      windows: seesSchedules ? this.#rollouts.windowsOfCluster(cluster, nowMs) : [],
    };
  }

  release(ref: ClusterRef, of: AppRef): Unreviewed<ReleaseDetail> | undefined {
    const { clusters, events } = this.#deps;
    const bundle = this.#bundleOf(of);
    const cluster = clusters.store.get(keyOf(ref));
    const found = this.#deploymentsOf(bundle).find(
      (deployment) =>
        clusterKeyOf(deployment) === keyOf(ref) && isForCluster(deployment, cluster?.metadata.uid),
    );
    if (bundle === undefined || found === undefined) return undefined;
    return {
      ...releaseDetailOf({ app: of, bundle, deployment: found, cluster }),
      cluster: ref,
      connected: cluster !== undefined && presenceOf(cluster) === "Connected",
      events: eventsAbout(events.store.list(), of),
    };
  }

  /** `sees`: as in ClusterViewer. */
  source(
    kind: SourceKind,
    ref: ClusterRef,
    sees: (app: AppRef) => boolean,
  ): Unreviewed<SourceDetail> | undefined {
    const { sources, events } = this.#deps;
    const source = sources[kind].store.get(keyOf(ref));
    if (source === undefined) return undefined;
    const { spec, status } = source;
    return {
      ...sourceOf(kind, source),
      ...commonOf(kind, source, events.store.list()),
      conditions: shownConditions(status?.conditions),
      ...(status?.artifact !== undefined && { digest: status.artifact.digest }),
      polling: shownPolling(spec?.interval, status?.polling, status?.polling?.lastAttemptTime),
      usedBy: this.#usersOf(kind, ref).filter(sees),
    };
  }

  #objectOf(ref: AppRef): KubeObject | undefined {
    return appObject(this.#views, ref);
  }

  #bundleOf({ kind, namespace, name }: AppRef): Bundle | undefined {
    const key = keyOf({ namespace, name: bundleNameOf(kind, name) });
    const bundle = this.#deps.bundles.store.get(key);
    return bundle !== undefined && appRefOf(bundle).kind === kind ? bundle : undefined;
  }

  /** In clusters that exist. */
  #deploymentsOf(bundle: Bundle | undefined): readonly BundleDeployment[] {
    const { deployments, clusters } = this.#deps;
    if (bundle === undefined) return [];
    return deployments.store
      .byIndex(byBundle, keyOf(bundle))
      .filter((deployment) => clusters.store.get(clusterKeyOf(deployment)) !== undefined);
  }

  #releasesOf(
    cluster: Cluster,
    seesRollouts: ClusterViewer["seesRollouts"],
  ): readonly ClusterRelease[] {
    const { deployments, bundles } = this.#deps;
    const { status, metadata } = cluster;
    if (status?.namespace === undefined) return [];
    return deployments.store
      .byIndex(byNamespace, status.namespace)
      .filter((deployment) => isForCluster(deployment, metadata.uid))
      .flatMap((deployment) => {
        const bundle = bundles.store.get(bundleKeyOf(deployment));
        // Without its Bundle it is a tombstone.
        const app = bundle === undefined ? appRefOfDeployment(deployment) : appRefOf(bundle);
        if (app === undefined) return [];
        const rollout =
          bundle !== undefined && seesRollouts(app.namespace)
            ? this.#rollouts.release(bundle, cluster, deployment)
            : undefined;
        const release = releaseOf({ app, bundle, deployment, cluster });
        return [{ ...release, ...(rollout !== undefined && { rollout }) }];
      });
  }

  /** What a rollout is to bring to a cluster that has nothing of it yet. */
  #awaitedIn(
    cluster: Cluster,
    { sees, seesRollouts }: Pick<ClusterViewer, "sees" | "seesRollouts">,
  ): ClusterDetail["awaited"] {
    const { deployments } = this.#deps;
    const own = deployments.store.byIndex(byNamespace, cluster.status?.namespace ?? "");
    const awaited = this.#rollouts
      .awaited(cluster, new Set(own.map(bundleKeyOf)))
      .map((bundle) => ({ bundle, app: appRefOf(bundle) }))
      .filter(({ app }) => seesRollouts(app.namespace) && sees(app));
    return {
      count: awaited.length,
      first: awaited.slice(0, maxNamed).flatMap(({ bundle, app }) => {
        const rollout = this.#rollouts.release(bundle, cluster, undefined);
        return rollout === undefined ? [] : [{ app, rollout }];
      }),
    };
  }

  /** The token is the value of the Bundle's annotation, as BundleDeployments have it. */
  #lastRequest(bundle: Bundle | undefined): Pick<AppDetail, "lastRequest"> {
    const { clusters, version } = this.#deps;
    const asked = this.#deploymentsOf(bundle).filter(({ spec }) => spec.requestedAt);
    const token = asked
      .map(({ spec }) => spec.requestedAt ?? "")
      .toSorted()
      .at(-1);
    if (token === undefined) return {};
    const found = asked.flatMap((each) => clusters.store.get(clusterKeyOf(each)) ?? []);
    const answers = requestAnswers(asked, found, { token, version });
    return { lastRequest: [...answerLines(answers)] };
  }

  /** The apps that name a source. */
  #usersOf(kind: SourceKind, ref: ClusterRef): AppRef[] {
    return appKinds.flatMap((appKind) => {
      const { informer, sourceOf: sourceOfApp } = this.#views[appKind];
      if (sourceOfApp === undefined) return [];
      return informer.store.list().flatMap((object) => {
        const used = sourceOfApp(object);
        const isUser =
          used?.kind === kind && used.namespace === ref.namespace && used.name === ref.name;
        const { namespace = "", name } = object.metadata;
        return isUser ? [{ kind: appKind, namespace, name }] : [];
      });
    });
  }
}

/** What is shown of objects of every kind. */
function commonOf(
  kind: string,
  object: KubeObject & { readonly status?: unknown },
  events: readonly Event[],
) {
  const { namespace = "", name, creationTimestamp } = object.metadata;
  const [writer] = object.metadata.managedFields ?? [];
  return {
    ...(creationTimestamp !== undefined && { createdAt: creationTimestamp }),
    ...(writer?.manager !== undefined && { changedBy: writer.manager }),
    ...(writer?.time !== undefined && { changedAt: writer.time }),
    yaml: yamlOf(object),
    events: eventsAbout(events, { kind, namespace, name }),
  };
}

/** What a target shows of the release that it has. */
function releasedOf({ state, version, message, since }: ClusterRelease): Partial<Target> {
  return {
    state,
    ...(version !== undefined && { version }),
    ...(message !== undefined && { message }),
    ...(since !== undefined && { since }),
  };
}
