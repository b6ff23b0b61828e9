/** One app, cluster, release or source with all that the caches have about it. The caller checks the rights. */
import {
  answerLines,
  type Bundle,
  type BundleDeployment,
  type ChartPin,
  type ClusterGroup,
  requestAnswers,
} from "@flotilla/shared/api";
import { frontEndBundleName } from "@flotilla/shared/api/names";
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
import { archiveDigest, pinAddress, pinnedVersion } from "@flotilla/shared/source";
import {
  bundleKeyOf,
  byBundle,
  clusterKeyOf,
  clusterNamespaceFor,
  isForCluster,
} from "../cache/index.ts";
import { presenceOf, revocationOf } from "../clusterstate/index.ts";
import { releaseOfHelmOp } from "../frontend/index.ts";
import { pollingIntervalMs } from "../resolve/index.ts";
import { explainTarget, toTargetCluster, toTargetGroup } from "../targeting/index.ts";
import {
  appOfBundle,
  appOfHelmOp,
  appOfHelmRelease,
  appRefOf,
  appRefOfDeployment,
  sourceOfRelease,
} from "./app-of.ts";
import { clusterOf } from "./cluster-of.ts";
import { eventsAbout, shownConditions, shownPolling, yamlOf } from "./conditions.ts";
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
  /** Of the hub. */
  readonly version: string;
}

export function createFleetDetails(deps: FleetDetailsDeps): FleetDetails {
  const { helmOps, helmReleases, bundles, deployments, clusters, groups, sources, events } = deps;

  function bundleOf({ kind, namespace, name }: AppRef): Bundle | undefined {
    const own = kind === "HelmRelease" ? frontEndBundleName(kind, name) : name;
    const bundle = bundles.store.get(keyOf({ namespace, name: own }));
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

  function app(ref: AppRef): Unreviewed<AppDetail> | undefined {
    const key = keyOf({ namespace: ref.namespace, name: ref.name });
    const bundle = bundleOf(ref);
    switch (ref.kind) {
      case "HelmOp": {
        const helmOp = helmOps.store.get(key);
        if (helmOp === undefined) return undefined;
        const { pins, polling, lastPollingTriggered, conditions } = helmOp.status ?? {};
        const isPolled = pollingIntervalMs(releaseOfHelmOp(helmOp)) !== undefined;
        const interval = isPolled ? (helmOp.spec.pollingInterval ?? undefined) : undefined;
        const { repo = "", chart = "", version = "" } = helmOp.spec.helm ?? {};
        const desired = { repo: repo ?? "", chart: chart ?? "", constraint: version ?? "" };
        return {
          ...appOfHelmOp(helmOp),
          ...common("HelmOp", helmOp),
          ...lastRequest(bundle),
          conditions: shownConditions(conditions),
          charts: chartsOf(pins, desired),
          polling: shownPolling(interval, polling, lastPollingTriggered ?? undefined),
        };
      }
      case "HelmRelease": {
        const release = helmReleases.store.get(key);
        if (release === undefined) return undefined;
        const { chart, version } = release.spec?.chart?.spec ?? {};
        const desired =
          chart === undefined ? undefined : { repo: "", chart, constraint: version ?? "" };
        return {
          ...appOfHelmRelease(release),
          ...common("HelmRelease", release),
          ...lastRequest(bundle),
          conditions: shownConditions(release.status?.conditions),
          // Its Bundle has the resolved version in place of the constraint.
          charts: chartsOf(bundle?.spec.helmOpOptions?.pins, desired).map((found) => ({
            ...found,
            ...(desired !== undefined && { constraint: desired.constraint }),
          })),
          polling: shownPolling(undefined, undefined, undefined),
        };
      }
      case "Bundle": {
        if (bundle === undefined) return undefined;
        return {
          ...appOfBundle(bundle),
          ...common("Bundle", bundle),
          ...lastRequest(bundle),
          conditions: shownConditions(bundle.status?.conditions),
          charts: chartsOf(bundle.status?.pins),
          polling: shownPolling(undefined, bundle.status?.resolution, undefined),
        };
      }
    }
  }

  function targets(ref: AppRef): readonly Target[] | undefined {
    const bundle = bundleOf(ref);
    const helmOp = helmOps.store.get(keyOf({ namespace: ref.namespace, name: ref.name }));
    const spec = bundle?.spec ?? (ref.kind === "HelmOp" ? helmOp?.spec : undefined);
    if (spec === undefined) return app(ref) === undefined ? undefined : [];
    const namespace = bundle === undefined ? ref.namespace : clusterNamespaceFor(bundle);
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
    hasDrift: (ref) =>
      deploymentsOf(bundleOf(ref)).some(
        ({ status }) => status?.nonModified === false || (status?.modifiedStatus ?? []).length > 0,
      ),
    history: (ref) =>
      app(ref) === undefined ? undefined : versionHistoryOf(deploymentsOf(bundleOf(ref))),
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
        usedBy: helmReleases.store.list().flatMap((release) => {
          const { source: used } = sourceOfRelease(release);
          const isUser =
            used?.kind === kind && used.namespace === ref.namespace && used.name === ref.name;
          const { namespace = "", name } = release.metadata;
          const user = { kind: "HelmRelease", namespace, name } as const;
          return isUser && sees(user) ? [user] : [];
        }),
      };
    },
  };
}

type Chart = AppDetail["charts"][number];

/** `desired`: what is shown before it is resolved. */
function chartsOf(pins: readonly ChartPin[] = [], desired?: Chart): Chart[] {
  if (pins.length > 0) return pins.map(chartOf);
  return desired === undefined ? [] : [desired];
}

function chartOf({ repo, chart, version, pin, note }: ChartPin): Chart {
  const digest = archiveDigest(pin);
  const resolved = pinnedVersion(pin);
  return {
    repo,
    chart,
    constraint: version,
    ...(resolved !== "" && { version: resolved }),
    url: pinAddress(pin),
    ...(digest !== undefined && { digest }),
    ...(note && { note }),
  };
}
