/** The caches of a hub with a large fleet, without an API server: filled at once, and changed as its watches would. */
import type { Bundle, BundleDeployment, Cluster, HelmOp } from "@flotilla/shared/api";
import { type ChangeListener, createStore, type Store } from "@flotilla/shared/kube/cache";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import {
  firstState,
  type LargeState,
  newBundle,
  newCluster,
  newDeployment,
  newHelmOp,
} from "./large-fleet-objects.ts";

/** What a reader of an informer needs. */
export interface Watched<T extends KubeObject> {
  readonly store: Store<T>;
  onChange(listener: ChangeListener<T>): () => void;
}

export interface LargeFleetCaches {
  readonly helmOps: Watched<HelmOp>;
  readonly bundles: Watched<Bundle>;
  readonly deployments: Watched<BundleDeployment>;
  readonly clusters: Watched<Cluster>;
  /** Changes the state of one release after the other, and what is summed up from it: its Cluster, Bundle and HelmOp. */
  changeNext(): void;
}

interface Fed<T extends KubeObject> extends Watched<T> {
  set(object: T): void;
}

export function createLargeFleet(clusterCount: number, appCount: number): LargeFleetCaches {
  const byCluster = Array.from({ length: clusterCount }, (_, cluster) =>
    Array.from({ length: appCount }, (__, app) => firstState(cluster, app)),
  );
  const [helmOps, bundles] = [fed<HelmOp>(), fed<Bundle>()];
  const [deployments, clusters] = [fed<BundleDeployment>(), fed<Cluster>()];
  /** The version of the API server. */
  let version = 1;
  let next = 0;

  function setApp(app: number): void {
    const states = byCluster.map((row): LargeState => row[app] ?? "Ready");
    helmOps.set(newHelmOp(app, states, version));
    bundles.set(newBundle(app, states, version));
  }

  for (const [cluster, states] of byCluster.entries()) {
    clusters.set(newCluster(cluster, states, version));
    for (const [app, state] of states.entries())
      deployments.set(newDeployment({ cluster, app }, state, version));
  }
  for (let app = 0; app < appCount; app += 1) setApp(app);

  return {
    ...{ helmOps, bundles, deployments, clusters },
    changeNext() {
      // Clusters and apps from all parts of the fleet.
      const cluster = (next * 997) % clusterCount;
      const app = (next * 7) % appCount;
      const states = byCluster[cluster];
      if (states === undefined) return;
      next += 1;
      version += 1;
      const state = states[app] === "Ready" ? "NotReady" : "Ready";
      states[app] = state;
      deployments.set(newDeployment({ cluster, app }, state, version));
      clusters.set(newCluster(cluster, states, version));
      setApp(app);
    },
  };
}

/** A kind without objects. */
export function noObjects<T extends KubeObject>(): Watched<T> {
  return fed<T>();
}

function fed<T extends KubeObject>(): Fed<T> {
  const store = createStore<T>();
  const listeners = new Set<ChangeListener<T>>();
  return {
    store,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    set(object) {
      const change = store.set(object);
      if (change !== undefined) for (const listener of listeners) listener(change);
    },
  };
}
