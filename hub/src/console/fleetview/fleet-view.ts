/**
 * The fleet as the dashboard shows it: in memory, kept up to date by the informers that every replica has, so that a viewer costs
 * the API server nothing. It may be dropped and built again at any time. Each reader has a scope, and gets only what that sees.
 */
import type { Bundle, BundleDeployment, Cluster } from "@flotilla/shared/api";
import { appKinds, frontEndKinds } from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import {
  type App,
  type AppRef,
  type Change,
  type Fleet,
  type FleetCluster,
  type FleetEvent,
  type SourceKind,
  sourceKinds,
} from "@flotilla/shared/dashboard";
import { byNamespace } from "@flotilla/shared/kube/cache";
import { type Event, type KubeObject, keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { bundleKeyOf, byBundle, clusterKeyOf, presenceOf } from "../../base/index.ts";
import { createAppViews, type WatchedApps } from "../../frontends/index.ts";
import {
  appObject,
  appRefOf,
  appRefOfDeployment,
  stateOf,
  stateWhileOffline,
  type Watched,
} from "../../rules/index.ts";
import type { Scope } from "../access/scope.ts";
import { createChangeLog } from "./change-log.ts";
import { clusterOf } from "./cluster-of.ts";
import { type Entity, formatEntity, parseEntity } from "./entity.ts";
import { failedValues } from "./failed-values.ts";
import { type Cell, createMatrix } from "./matrix.ts";
import { eventOf, newestOf } from "./recent-events.ts";
import { type AnySource, sourceOf } from "./source-of.ts";
import { createUnmatchedSelectors } from "./unmatched-selectors.ts";

export interface FleetViewDeps {
  readonly apps: WatchedApps;
  readonly bundles: Watched<Bundle>;
  readonly deployments: Watched<BundleDeployment>;
  readonly clusters: Watched<Cluster>;
  readonly sources: Readonly<Record<SourceKind, Watched<AnySource>>>;
  readonly events: Watched<Event>;
}

export interface FleetView {
  /** The position of the last change. */
  readonly position: number;
  fleet(scope: Scope): Omit<Fleet, "position" | "now">;
  /** Undefined if `position` is too old: the reader has to read the fleet again. */
  changesSince(position: number, scope: Scope): readonly Change[] | undefined;
  /** Called after each change; returns the function that removes the listener. */
  onChange(listener: () => void): () => void;
}

const maxEvents = 200;

export function createFleetView(deps: FleetViewDeps): FleetView {
  const { bundles, deployments, clusters, sources, events } = deps;
  const views = createAppViews(deps.apps);
  const log = createChangeLog();
  const matrix = createMatrix();
  const unmatchedSelectors = createUnmatchedSelectors(bundles.store);
  const listeners = new Set<() => void>();
  /** Objects of a store are never changed in place. */
  const shownClusters = new WeakMap<Cluster, FleetCluster>();

  function changed(entity: Entity): void {
    log.changed(formatEntity(entity));
    for (const listener of listeners) listener();
  }

  function place(deployment: BundleDeployment, isGone = false) {
    const [bundle, cluster] = [bundleKeyOf(deployment), clusterKeyOf(deployment)];
    const cell = isGone ? undefined : cellOf(deployment, clusters.store.get(cluster));
    matrix.set(bundle, cluster, cell);
    return { deployment, bundle, cluster };
  }

  /** Also for a pending uninstall without its Bundle: it has no row, but the page of its cluster shows it. */
  function releaseChanged({ deployment, ...release }: ReturnType<typeof place>): void {
    const bundle = bundles.store.get(release.bundle);
    const app = bundle === undefined ? appRefOfDeployment(deployment) : appRefOf(bundle);
    if (app !== undefined) changed({ of: "release", app, ...release });
  }

  function show(cluster: Cluster): FleetCluster {
    const shown = shownClusters.get(cluster) ?? clusterOf(cluster);
    shownClusters.set(cluster, shown);
    return shown;
  }

  /** With what depends on other objects, and on the reader. */
  function complete(app: App, scope: Scope): App {
    const own = bundleNameOf(app.kind, app.name);
    const found = bundles.store.get(keyOf({ namespace: app.namespace, name: own }));
    const bundle = found && isSameApp(appRefOf(found), app) ? found : undefined;
    const unmatched = bundle === undefined ? [] : unmatchedSelectors.of(bundle);
    const mayLackValues = app.state === "ErrApplied" || app.state === "Stalled";
    const values =
      bundle !== undefined && mayLackValues
        ? failedValues(bundle, () => deployments.store.byIndex(byBundle, keyOf(bundle)))
        : [];
    return {
      ...app,
      ...(app.waitsFor !== undefined && {
        waitsFor: app.waitsFor.map((ref) =>
          scope.sees(ref.kind, ref.namespace) ? ref : { ...ref, hidden: true },
        ),
      }),
      ...(unmatched.length > 0 && { unmatched: [...unmatched] }),
      ...(values.length > 0 && { values: [...values] }),
    };
  }

  function shownApp(ref: AppRef): App | undefined {
    const object = appObject(views, ref);
    return object && views[ref.kind].appOf(object);
  }

  for (const deployment of deployments.store.list()) place(deployment);
  deployments.onChange(({ before, after }) => {
    const deployment = after ?? before;
    if (deployment === undefined) return;
    releaseChanged(place(deployment, after === undefined));
  });
  clusters.onChange(({ before, after }) => {
    const cluster = after ?? before;
    if (cluster === undefined) return;
    const { namespace = "", name } = cluster.metadata;
    changed({ of: "cluster", ref: { namespace, name } });
    const own = cluster.status?.namespace;
    // Its deployments may have been there before it, and are there for minutes after it.
    const isSame = isOnline(before) === isOnline(after) && before?.status?.namespace === own;
    if (isSame || own === undefined) return;
    for (const deployment of deployments.store.byIndex(byNamespace, own))
      releaseChanged(place(deployment));
  });
  const watch = (kind: AppRef["kind"], informer: Watched<KubeObject>) =>
    informer.onChange(({ before, after }) => {
      const { namespace = "", name = "" } = (after ?? before)?.metadata ?? {};
      changed({ of: "app", ref: { kind, namespace, name } });
    });
  for (const kind of frontEndKinds) watch(kind, views[kind].informer);
  for (const bundle of bundles.store.list()) unmatchedSelectors.changed(keyOf(bundle), bundle);
  bundles.onChange(({ key, before, after }) => {
    for (const other of unmatchedSelectors.changed(key, after)) {
      const waiting = bundles.store.get(other);
      if (waiting !== undefined) changed({ of: "app", ref: appRefOf(waiting) });
    }
    const bundle = after ?? before;
    if (bundle === undefined) return;
    const app = appRefOf(bundle);
    // Only a Bundle that exists has a row.
    if (before === undefined || after === undefined)
      for (const cluster of matrix.clustersOf([key]))
        changed({ of: "release", app, bundle: key, cluster });
    changed({ of: "app", ref: app });
  });
  for (const kind of sourceKinds)
    sources[kind].onChange(({ before, after }) => {
      const { namespace = "", name = "" } = (after ?? before)?.metadata ?? {};
      changed({ of: "source", ref: { kind, namespace, name } });
    });
  events.onChange(({ key, after }) => {
    if (after !== undefined) changed({ of: "event", key });
  });

  function changeOf(entity: Entity, scope: Scope): Change | undefined {
    switch (entity.of) {
      case "app": {
        if (!scope.sees(entity.ref.kind, entity.ref.namespace)) return undefined;
        const app = shownApp(entity.ref);
        return app === undefined
          ? { type: "removed", removed: { of: "app", ...entity.ref } }
          : { type: "app", app: complete(app, scope) };
      }
      case "cluster": {
        if (!scope.sees("Cluster", entity.ref.namespace)) return undefined;
        const cluster = clusters.store.get(keyOf(entity.ref));
        return cluster === undefined
          ? { type: "removed", removed: { of: "cluster", ...entity.ref } }
          : { type: "cluster", cluster: show(cluster) };
      }
      case "source": {
        const { kind, namespace } = entity.ref;
        if (!scope.sees(kind, namespace)) return undefined;
        const source = sources[kind].store.get(keyOf(entity.ref));
        return source === undefined
          ? { type: "removed", removed: { of: "source", ...entity.ref } }
          : { type: "source", source: sourceOf(kind, source) };
      }
      case "release": {
        const { app, bundle, cluster } = entity;
        if (!scope.sees(app.kind, app.namespace)) return undefined;
        const cell = bundles.store.get(bundle) && matrix.cell(bundle, cluster);
        return {
          type: "release",
          app,
          cluster,
          state: cell?.state ?? null,
          version: cell?.version ?? "",
        };
      }
      case "event": {
        const event = events.store.get(entity.key);
        const shown = event && eventOf(event);
        return shown && scope.sees(shown.kind, shown.namespace)
          ? { type: "event", event: shown }
          : undefined;
      }
    }
  }

  return {
    get position() {
      return log.position;
    },
    fleet(scope) {
      const visible = <T extends KubeObject>(kind: string, { store }: Watched<T>) =>
        store.list().filter(({ metadata }) => scope.sees(kind, metadata.namespace ?? ""));
      const seen = visible("Cluster", clusters).map(show);
      const apps = appKinds.flatMap((kind) => {
        const { informer, isApp, appOf } = views[kind];
        const objects = visible(kind, informer);
        return (isApp === undefined ? objects : objects.filter(isApp)).map(appOf);
      });
      const rows = [...matrix.bundles()].flatMap((key) => {
        const bundle = bundles.store.get(key);
        const app = bundle && appRefOf(bundle);
        return app && scope.sees(app.kind, app.namespace) ? [{ key, app }] : [];
      });
      const columns = columnsOf(seen, matrix.clustersOf(rows.map(({ key }) => key)));
      const rowOf = matrix.rowsFor(columns);
      return {
        clusters: seen,
        apps: apps.map((app) => complete(app, scope)),
        sources: sourceKinds.flatMap((kind) =>
          visible(kind, sources[kind]).map((source) => sourceOf(kind, source)),
        ),
        columns,
        rows: rows.map(({ key, app }) => {
          const { states, versions, versionOf } = rowOf(key);
          return { ...app, states, versions: [...versions], versionOf };
        }),
        events: [...newestOf(visibleEvents(events, scope), maxEvents)],
      };
    },
    changesSince(position, scope) {
      return log.since(position)?.flatMap((entity) => changeOf(parseEntity(entity), scope) ?? []);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** None without its cluster: it is deleted with the namespace of the cluster. */
function cellOf(deployment: BundleDeployment, cluster: Cluster | undefined): Cell | undefined {
  if (cluster === undefined) return undefined;
  const state = stateOf(deployment);
  return {
    state: presenceOf(cluster) === "Connected" ? state : stateWhileOffline(state),
    version: deployment.status?.version ?? "",
  };
}

/** Undefined without a cluster. */
function isOnline(cluster: Cluster | undefined): boolean | undefined {
  return cluster && presenceOf(cluster) === "Connected";
}

function isSameApp(one: AppRef, other: AppRef): boolean {
  return one.kind === other.kind && one.namespace === other.namespace && one.name === other.name;
}

/** The clusters that may be seen, and those that visible apps have releases in. */
function columnsOf(seen: readonly FleetCluster[], used: readonly ObjectKey[]): string[] {
  return [...new Set([...seen.map((cluster) => keyOf(cluster)), ...used])].sort();
}

function visibleEvents({ store }: Watched<Event>, scope: Scope): readonly FleetEvent[] {
  return store.list().flatMap((event) => {
    const shown = eventOf(event);
    return shown && scope.sees(shown.kind, shown.namespace) ? [shown] : [];
  });
}
