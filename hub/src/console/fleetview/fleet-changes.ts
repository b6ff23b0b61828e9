/**
 * What has changed in the fleet since a position: follows the caches, and keeps up to date what is made of many objects, the matrix
 * of releases and the selectors without a match.
 */
import type { Bundle, BundleDeployment, Cluster } from "@flotilla/shared/api";
import { frontEndKinds, isAppKind } from "@flotilla/shared/api/apps";
import type { BundleRollout, Gate } from "@flotilla/shared/api/rollout";
import { type AppRef, sourceKinds } from "@flotilla/shared/dashboard";
import { byNamespace, type Change } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { bundleKeyOf, clusterKeyOf } from "../../base/index.ts";
import { type AppViews, appRefOf, appRefOfDeployment } from "../../rules/index.ts";
import { cellOf, namespaceOfChangedCells } from "./cell-of.ts";
import { ChangeLog } from "./change-log.ts";
import { type Entity, formatEntity, parseEntity } from "./entity.ts";
import { createMatrix } from "./matrix.ts";
import type { ShownCaches } from "./shown-caches.ts";
import { createUnmatchedSelectors, type UnmatchedSelectors } from "./unmatched-selectors.ts";

/** A deployment where the matrix has it. */
interface Placed {
  readonly deployment: BundleDeployment;
  readonly bundle: ObjectKey;
  readonly cluster: ObjectKey;
}

export class FleetChanges {
  readonly matrix = createMatrix();
  readonly #caches: ShownCaches;
  readonly #log = new ChangeLog();
  readonly #unmatchedSelectors: UnmatchedSelectors;
  readonly #listeners = new Set<() => void>();

  /** Follows the caches for as long as they live. `views`: of `caches.apps`. */
  constructor(caches: ShownCaches, views: AppViews) {
    const { bundles, deployments, clusters, sources, events } = caches;
    const { rollouts, gates, schedules } = caches;
    this.#caches = caches;
    this.#unmatchedSelectors = createUnmatchedSelectors(bundles.store);
    for (const deployment of deployments.store.list()) this.#place(deployment);
    deployments.onChange(({ before, after }) => {
      const deployment = after ?? before;
      if (deployment === undefined) return;
      this.#releaseChanged(this.#place(deployment, after === undefined));
    });
    clusters.onChange((change) => this.#clusterChanged(change));
    for (const kind of frontEndKinds)
      views[kind].informer.onChange((change) => {
        this.#changed({ of: "app", ref: { kind, ...refOf(change) } });
      });
    for (const bundle of bundles.store.list())
      this.#unmatchedSelectors.changed(keyOf(bundle), bundle);
    bundles.onChange((change) => this.#bundleChanged(change));
    for (const kind of sourceKinds)
      sources[kind].onChange((change) => {
        this.#changed({ of: "source", ref: { kind, ...refOf(change) } });
      });
    rollouts.onChange(({ before, after }) => this.#rolloutChanged(after ?? before));
    gates.onChange(({ before, after }) => this.#rolloutChanged(after ?? before));
    schedules.onChange((change) => {
      this.#changed({ of: "schedules", namespace: refOf(change).namespace });
    });
    events.onChange(({ key, after }) => {
      if (after !== undefined) this.#changed({ of: "event", key });
    });
  }

  /** The position of the last change. */
  get position(): number {
    return this.#log.position;
  }

  /** What has changed, each once. Undefined if `position` is too old. */
  since(position: number): readonly Entity[] | undefined {
    return this.#log.since(position)?.map(parseEntity);
  }

  /** See UnmatchedSelectors. */
  unmatchedSelectorsOf(bundle: Bundle): readonly string[] {
    return this.#unmatchedSelectors.of(bundle);
  }

  /** Called after each change; returns the function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #changed(entity: Entity): void {
    this.#log.changed(formatEntity(entity));
    for (const listener of this.#listeners) listener();
  }

  #clusterChanged({ before, after }: Change<Cluster>): void {
    const cluster = after ?? before;
    if (cluster === undefined) return;
    const { namespace = "", name } = cluster.metadata;
    this.#changed({ of: "cluster", ref: { namespace, name } });
    const own = namespaceOfChangedCells(before, after);
    if (own === undefined) return;
    for (const deployment of this.#caches.deployments.store.byIndex(byNamespace, own))
      this.#releaseChanged(this.#place(deployment));
  }

  #bundleChanged({ key, before, after }: Change<Bundle>): void {
    for (const other of this.#unmatchedSelectors.changed(key, after)) {
      const waiting = this.#caches.bundles.store.get(other);
      if (waiting !== undefined) this.#changed({ of: "app", ref: appRefOf(waiting) });
    }
    const bundle = after ?? before;
    if (bundle === undefined) return;
    const app = appRefOf(bundle);
    // Only a Bundle that exists has a row.
    if (before === undefined || after === undefined)
      for (const cluster of this.matrix.clustersOf([key]))
        this.#changed({ of: "release", app, bundle: key, cluster });
    this.#changed({ of: "app", ref: app });
  }

  /** The page of its app shows it. */
  #rolloutChanged(object: BundleRollout | Gate | undefined): void {
    if (object === undefined) return;
    const { kind, name } = object.spec.app;
    const { namespace = "" } = object.metadata;
    if (isAppKind(kind)) this.#changed({ of: "app", ref: { kind, namespace, name } });
  }

  /** Also for a pending uninstall without its Bundle: it has no row, but the page of its cluster shows it. */
  #releaseChanged({ deployment, ...release }: Placed): void {
    const bundle = this.#caches.bundles.store.get(release.bundle);
    const app = bundle === undefined ? appRefOfDeployment(deployment) : appRefOf(bundle);
    if (app !== undefined) this.#changed({ of: "release", app, ...release });
  }

  #place(deployment: BundleDeployment, isGone = false): Placed {
    const [bundle, cluster] = [bundleKeyOf(deployment), clusterKeyOf(deployment)];
    const found = this.#caches.clusters.store.get(cluster);
    this.matrix.set(bundle, cluster, isGone ? undefined : cellOf(deployment, found));
    return { deployment, bundle, cluster };
  }
}

function refOf({ before, after }: Change<KubeObject>): Pick<AppRef, "namespace" | "name"> {
  const { namespace = "", name = "" } = (after ?? before)?.metadata ?? {};
  return { namespace, name };
}
