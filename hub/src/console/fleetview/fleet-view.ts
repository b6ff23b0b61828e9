/**
 * The fleet as the dashboard shows it: in memory, kept up to date by the informers that every replica has, so that a viewer costs
 * the API server nothing. It may be dropped and built again at any time. Each reader has a scope, and gets only what that sees.
 */
import type { Bundle, Cluster } from "@flotilla/shared/api";
import { appKinds } from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import {
  type App,
  type AppRef,
  type Change,
  type Fleet,
  type FleetCluster,
  type FleetEvent,
  sourceKinds,
} from "@flotilla/shared/dashboard";
import { type Event, type KubeObject, keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { byBundle } from "../../base/index.ts";
import { createAppViews } from "../../frontends/index.ts";
import { type AppViews, appObject, appRefOf, type Watched } from "../../rules/index.ts";
import type { Scope } from "../access/scope.ts";
import { clusterOf } from "./cluster-of.ts";
import type { Entity } from "./entity.ts";
import { failedValues } from "./failed-values.ts";
import { FleetChanges } from "./fleet-changes.ts";
import { eventOf, newestOf } from "./recent-events.ts";
import { appRolloutOf } from "./rollout-of.ts";
import type { ShownCaches } from "./shown-caches.ts";
import { sourceOf } from "./source-of.ts";
import { rolloutsOfBundle } from "./staged-rollouts.ts";

const maxEvents = 200;

export class FleetView {
  readonly #caches: ShownCaches;
  readonly #views: AppViews;
  readonly #changes: FleetChanges;
  /** Objects of a store are never changed in place. */
  readonly #shownClusters = new WeakMap<Cluster, FleetCluster>();

  constructor(caches: ShownCaches) {
    this.#caches = caches;
    this.#views = createAppViews(caches.apps);
    this.#changes = new FleetChanges(caches, this.#views);
  }

  /** The position of the last change. */
  get position(): number {
    return this.#changes.position;
  }

  /** All that the reader sees. */
  fleet(scope: Scope): Omit<Fleet, "position" | "now"> {
    const { clusters, sources, events } = this.#caches;
    const { matrix } = this.#changes;
    const seen = visible(scope, "Cluster", clusters).map((cluster) => this.#show(cluster));
    const rows = this.#visibleRows(scope);
    const columns = columnsOf(seen, matrix.clustersOf(rows.map(({ key }) => key)));
    const rowOf = matrix.rowsFor(columns);
    return {
      clusters: seen,
      apps: this.#visibleApps(scope).map((app) => this.#complete(app, scope)),
      sources: sourceKinds.flatMap((kind) =>
        visible(scope, kind, sources[kind]).map((source) => sourceOf(kind, source)),
      ),
      columns,
      rows: rows.map(({ key, app }) => {
        const { states, versions, versionOf } = rowOf(key);
        return { ...app, states, versions: [...versions], versionOf };
      }),
      events: [...newestOf(visibleEvents(events, scope), maxEvents)],
    };
  }

  /** Undefined if `position` is too old: the reader has to read the fleet again. */
  changesSince(position: number, scope: Scope): readonly Change[] | undefined {
    return this.#changes.since(position)?.flatMap((entity) => this.#changeOf(entity, scope) ?? []);
  }

  /** Called after each change; returns the function that removes the listener. */
  onChange(listener: () => void): () => void {
    return this.#changes.onChange(listener);
  }

  #visibleApps(scope: Scope): readonly App[] {
    return appKinds.flatMap((kind) => {
      const { informer, isApp, appOf } = this.#views[kind];
      const objects = visible(scope, kind, informer);
      return (isApp === undefined ? objects : objects.filter(isApp)).map(appOf);
    });
  }

  #visibleRows(scope: Scope): readonly { readonly key: ObjectKey; readonly app: AppRef }[] {
    return [...this.#changes.matrix.bundles()].flatMap((key) => {
      const bundle = this.#caches.bundles.store.get(key);
      const app = bundle && appRefOf(bundle);
      return app && scope.sees(app.kind, app.namespace) ? [{ key, app }] : [];
    });
  }

  #show(cluster: Cluster): FleetCluster {
    const shown = this.#shownClusters.get(cluster) ?? clusterOf(cluster);
    this.#shownClusters.set(cluster, shown);
    return shown;
  }

  /** With what depends on other objects, and on the reader. */
  #complete(app: App, scope: Scope): App {
    const { deployments } = this.#caches;
    const bundle = this.#bundleOf(app);
    const unmatched = bundle === undefined ? [] : this.#changes.unmatchedSelectorsOf(bundle);
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
      ...this.#rolloutOf(app, bundle, scope),
      ...(unmatched.length > 0 && { unmatched: [...unmatched] }),
      ...(values.length > 0 && { values: [...values] }),
    };
  }

  #rolloutOf(
    { namespace }: App,
    bundle: Bundle | undefined,
    scope: Scope,
  ): Pick<App, "rollout" | "isStaged"> {
    if (bundle === undefined || !scope.sees(bundleRollouts.kind, namespace)) return {};
    const [newest] = rolloutsOfBundle(this.#caches.rollouts, bundle);
    const rollout = newest && appRolloutOf(newest);
    return newest === undefined
      ? {}
      : { isStaged: true, ...(rollout !== undefined && { rollout }) };
  }

  #bundleOf(app: App): Bundle | undefined {
    const name = bundleNameOf(app.kind, app.name);
    const bundle = this.#caches.bundles.store.get(keyOf({ namespace: app.namespace, name }));
    return bundle && isSameApp(appRefOf(bundle), app) ? bundle : undefined;
  }

  /** Undefined for what the reader does not see. */
  #changeOf(entity: Entity, scope: Scope): Change | undefined {
    const { clusters, sources, bundles, events } = this.#caches;
    switch (entity.of) {
      case "app": {
        if (!scope.sees(entity.ref.kind, entity.ref.namespace)) return undefined;
        const object = appObject(this.#views, entity.ref);
        return object === undefined
          ? { type: "removed", removed: { of: "app", ...entity.ref } }
          : { type: "app", app: this.#complete(this.#views[entity.ref.kind].appOf(object), scope) };
      }
      case "cluster": {
        if (!scope.sees("Cluster", entity.ref.namespace)) return undefined;
        const cluster = clusters.store.get(keyOf(entity.ref));
        return cluster === undefined
          ? { type: "removed", removed: { of: "cluster", ...entity.ref } }
          : { type: "cluster", cluster: this.#show(cluster) };
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
        const cell = bundles.store.get(bundle) && this.#changes.matrix.cell(bundle, cluster);
        return {
          type: "release",
          app,
          cluster,
          state: cell?.state ?? null,
          version: cell?.version ?? "",
        };
      }
      case "schedules":
        return scope.sees("Schedule", entity.namespace)
          ? { type: "schedules", namespace: entity.namespace }
          : undefined;
      case "event": {
        const event = events.store.get(entity.key);
        const shown = event && eventOf(event);
        return shown && scope.sees(shown.kind, shown.namespace)
          ? { type: "event", event: shown }
          : undefined;
      }
    }
  }
}

function visible<T extends KubeObject>(
  scope: Scope,
  kind: string,
  { store }: Watched<T>,
): readonly T[] {
  return store.list().filter(({ metadata }) => scope.sees(kind, metadata.namespace ?? ""));
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
