/** One app, cluster, release or source with all that the caches have about it. The caller checks the rights. */
import {
  answerLines,
  type Bundle,
  type BundleDeployment,
  type ClusterGroup,
  requestAnswers,
} from "@flotilla/shared/api";
import { appKinds } from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import { versionSkew } from "@flotilla/shared/buildinfo";
import type {
  AppDetail,
  AppRef,
  ClusterDetail,
  ClusterRef,
  ReleaseDetail,
  SourceDetail,
  SourceKind,
  Target,
  VersionRecord,
} from "@flotilla/shared/dashboard";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import {
  bundleKeyOf,
  byBundle,
  clusterKeyOf,
  isForCluster,
  presenceOf,
  revocationOf,
  targetedNamespace,
} from "../../base/index.ts";
import { createAppViews } from "../../frontends/index.ts";
import {
  appObject,
  appRefOf,
  appRefOfDeployment,
  explainTarget,
  shownConditions,
  shownPolling,
  toTargetCluster,
  toTargetGroup,
} from "../../rules/index.ts";
import { clusterOf } from "./cluster-of.ts";
import { eventsAbout, yamlOf } from "./conditions.ts";
import type { FleetViewDeps } from "./fleet-view.ts";
import { releaseDetailOf, releaseOf } from "./release-of.ts";
import { sourceOf } from "./source-of.ts";
import { versionHistoryOf } from "./version-history.ts";

/** What depends on the rights of the user is added by the caller. */
export type Unreviewed<T> = Omit<T, "actions" | "requests">;

export interface FleetDetails {
  /** Undefined, as in the others, if there is no such object. */
  app(ref: AppRef): Unreviewed<AppDetail> | undefined;
  targets(ref: AppRef): readonly Target[] | undefined;
  history(ref: AppRef): readonly VersionRecord[] | undefined;
  /** Whether the objects of one of its releases differ from what was installed, as far as drift is detected. */
  hasDrift(ref: AppRef): boolean;
  /** Whether its source is polled. */
  isPolled(ref: AppRef): boolean;
  /** `sees`: whether the user may see the apps of that kind in that namespace. */
  cluster(ref: ClusterRef, sees: (app: AppRef) => boolean): Unreviewed<ClusterDetail> | undefined;
  release(cluster: ClusterRef, app: AppRef): Unreviewed<ReleaseDetail> | undefined;
  source(
    kind: SourceKind,
    ref: ClusterRef,
    sees: (app: AppRef) => boolean,
  ): Unreviewed<SourceDetail> | undefined;
}

export interface FleetDetailsDeps extends FleetViewDeps {
  readonly groups: { readonly store: Pick<Store<ClusterGroup>, "byIndex"> };
  /** The version of the hub. */
  readonly version: string;
}

export function createFleetDetails(deps: FleetDetailsDeps): FleetDetails {
  const { bundles, deployments, clusters, groups, sources, events } = deps;
  const views = createAppViews(deps.apps);

  function bundleOf({ kind, namespace, name }: AppRef): Bundle | undefined {
    const bundle = bundles.store.get(keyOf({ namespace, name: bundleNameOf(kind, name) }));
    return bundle !== undefined && appRefOf(bundle).kind === kind ? bundle : undefined;
  }

  /** In clusters that exist. */
  function deploymentsOf(bundle: Bundle | undefined): readonly BundleDeployment[] {
    if (bundle === undefined) return [];
    return deployments.store
      .byIndex(byBundle, keyOf(bundle))
      .filter((deployment) => clusters.store.get(clusterKeyOf(deployment)) !== undefined);
  }

  function common(kind: string, object: KubeObject & { readonly status?: unknown }) {
    const { namespace = "", name, creationTimestamp } = object.metadata;
    const [writer] = object.metadata.managedFields ?? [];
    return {
      ...(creationTimestamp !== undefined && { createdAt: creationTimestamp }),
      ...(writer?.manager !== undefined && { changedBy: writer.manager }),
      ...(writer?.time !== undefined && { changedAt: writer.time }),
      yaml: yamlOf(object),
      events: eventsAbout(events.store.list(), { kind, namespace, name }),
    };
  }

  /** The token is that of the Bundle's annotation, as BundleDeployments have it. */
  function lastRequest(bundle: Bundle | undefined): Pick<AppDetail, "lastRequest"> {
    const asked = deploymentsOf(bundle).filter(({ spec }) => spec.requestedAt);
    const token = asked
      .map(({ spec }) => spec.requestedAt ?? "")
      .toSorted()
      .at(-1);
    if (token === undefined) return {};
    const found = asked.flatMap((each) => clusters.store.get(clusterKeyOf(each)) ?? []);
    const answers = requestAnswers(asked, found, { token, version: deps.version });
    return { lastRequest: [...answerLines(answers)] };
  }

  const objectOf = (ref: AppRef) => appObject(views, ref);

  function app(ref: AppRef): Unreviewed<AppDetail> | undefined {
    const object = objectOf(ref);
    if (object === undefined) return undefined;
    const { appOf, detailsOf } = views[ref.kind];
    const bundle = bundleOf(ref);
    return {
      ...appOf(object),
      ...common(ref.kind, object),
      ...lastRequest(bundle),
      ...detailsOf(object, bundle),
    };
  }

  function usersOf(kind: SourceKind, ref: ClusterRef): AppRef[] {
    return appKinds.flatMap((appKind) => {
      const { informer, sourceOf: sourceOfApp } = views[appKind];
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

  function targets(ref: AppRef): readonly Target[] | undefined {
    const bundle = bundleOf(ref);
    const object = objectOf(ref);
    const spec = bundle?.spec ?? (object && views[ref.kind].targetsOf?.(object));
    if (spec === undefined) return object === undefined ? undefined : [];
    const namespace = bundle === undefined ? ref.namespace : targetedNamespace(bundle);
    const own = groups.store.byIndex(byNamespace, namespace).map(toTargetGroup);
    const deployed = new Map(
      deploymentsOf(bundle).map((deployment) => [clusterKeyOf(deployment), deployment] as const),
    );
    return clusters.store.byIndex(byNamespace, namespace).map((cluster) => {
      const deployment = deployed.get(keyOf(cluster));
      const release = deployment && bundle && releaseOf({ app: ref, bundle, deployment, cluster });
      return {
        namespace,
        name: cluster.metadata.name,
        ...explainTarget(toTargetCluster(cluster), spec, own),
        ...(release !== undefined && {
          state: release.state,
          ...(release.version !== undefined && { version: release.version }),
          ...(release.message !== undefined && { message: release.message }),
          ...(release.since !== undefined && { since: release.since }),
        }),
      };
    });
  }

  return {
    app,
    targets,
    isPolled(ref) {
      const object = objectOf(ref);
      return object !== undefined && (views[ref.kind].isPolled?.(object) ?? false);
    },
    hasDrift: (ref) =>
      deploymentsOf(bundleOf(ref)).some(
        ({ status }) => status?.nonModified === false || (status?.modifiedStatus ?? []).length > 0,
      ),
    history: (ref) =>
      objectOf(ref) === undefined ? undefined : versionHistoryOf(deploymentsOf(bundleOf(ref))),
    cluster(ref, sees) {
      const cluster = clusters.store.get(keyOf(ref));
      if (cluster === undefined) return undefined;
      const { status, metadata } = cluster;
      const { agent } = status ?? {};
      const skew = agent?.version ? versionSkew("agent", agent.version, deps.version) : undefined;
      const revocation = revocationOf(cluster);
      const own =
        status?.namespace === undefined
          ? []
          : deployments.store
              .byIndex(byNamespace, status.namespace)
              .filter((deployment) => isForCluster(deployment, metadata.uid));
      const releases = own.flatMap((deployment) => {
        const bundle = bundles.store.get(bundleKeyOf(deployment));
        // Without its Bundle it is a tombstone.
        const app = bundle === undefined ? appRefOfDeployment(deployment) : appRefOf(bundle);
        return app === undefined ? [] : [releaseOf({ app, bundle, deployment, cluster })];
      });
      const seen = releases.filter((release) => sees(release.app));
      return {
        ...clusterOf(cluster),
        ...common("Cluster", cluster),
        conditions: shownConditions(status?.conditions),
        agent: {
          connected: presenceOf(cluster) === "Connected",
          ...(agent?.version && { version: agent.version }),
          ...(skew !== undefined && "message" in skew && { skew: skew.message }),
          ...(agent?.lastSeen && { since: agent.lastSeen }),
          ...(agent?.namespace && { namespace: agent.namespace }),
          ...(agent?.replica && { replica: agent.replica }),
          ...(agent?.certificateExpiresAt && {
            certificateExpiresAt: agent.certificateExpiresAt,
          }),
          ...(revocation !== undefined && { revokedAt: revocation.text }),
        },
        releases: seen,
        hiddenReleases: releases.length - seen.length,
        orphans: [...(status?.orphans ?? [])],
      };
    },
    release(ref, of) {
      const bundle = bundleOf(of);
      const cluster = clusters.store.get(keyOf(ref));
      const found = deploymentsOf(bundle).find(
        (deployment) =>
          clusterKeyOf(deployment) === keyOf(ref) &&
          isForCluster(deployment, cluster?.metadata.uid),
      );
      if (bundle === undefined || found === undefined) return undefined;
      return {
        ...releaseDetailOf({ app: of, bundle, deployment: found, cluster }),
        cluster: ref,
        connected: cluster !== undefined && presenceOf(cluster) === "Connected",
        events: eventsAbout(events.store.list(), of),
      };
    },
    source(kind, ref, sees) {
      const source = sources[kind].store.get(keyOf(ref));
      if (source === undefined) return undefined;
      const { spec, status } = source;
      return {
        ...sourceOf(kind, source),
        ...common(kind, source),
        conditions: shownConditions(status?.conditions),
        ...(status?.artifact !== undefined && { digest: status.artifact.digest }),
        polling: shownPolling(spec?.interval, status?.polling, status?.polling?.lastAttemptTime),
        usedBy: usersOf(kind, ref).filter(sees),
      };
    },
  };
}
