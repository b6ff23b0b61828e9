/**
 * Each Cluster has a namespace of its own on the hub, where its BundleDeployments are. Its name follows from the
 * Cluster's, so nothing has to be looked up; it goes when the Cluster is gone.
 */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import {
  clusterAnnotation,
  clusterNamespaceAnnotation,
  clusterNamespaceName,
  managedLabel,
} from "@flotilla/shared/api/names.ts";
import { clusters } from "@flotilla/shared/api/resources.ts";
import type { Reconcile } from "@flotilla/shared/kube/controller.ts";
import { type Namespace, namespaces } from "@flotilla/shared/kube/core-resources.ts";
import { type ObjectKey, refOf } from "@flotilla/shared/kube/object.ts";
import { done } from "@flotilla/shared/kube/outcome.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { isAlreadyExists } from "@flotilla/shared/kube/status-error.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";

export interface ClusterDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  /** The managed namespaces only. */
  readonly namespaces: Store<Namespace>;
  /** Keys of Clusters whose namespace is there. */
  readonly housed: Set<ObjectKey>;
  readonly markStatus: (key: ObjectKey) => void;
}

export function clusterReconciler(deps: ClusterDeps): Reconcile {
  return async function reconcile(key, { signal }) {
    const { namespace: workspace = "", name } = refOf(key);
    const house = clusterNamespaceName(workspace, name);
    const cluster = deps.clusters.get(key);
    if (cluster === undefined) {
      deps.housed.delete(key);
      await demolish(house, key, signal);
      return done();
    }
    const namespace = deps.namespaces.get(house);
    if (namespace?.metadata.deletionTimestamp !== undefined) {
      // That of an earlier Cluster of this name. Its end is a change that leads here again.
      deps.housed.delete(key);
      return done();
    }
    if (namespace === undefined) await build(house, workspace, name, signal);
    deps.housed.add(key);
    deps.markStatus(key);
    return done();
  };

  async function build(
    house: string,
    workspace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<void> {
    const namespace: Namespace = {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: house,
        labels: { [managedLabel]: "true" },
        annotations: { [clusterNamespaceAnnotation]: workspace, [clusterAnnotation]: name },
      },
    };
    try {
      deps.namespaces.wrote(await deps.rest.create(namespaces, namespace, { signal }));
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw thrown;
    }
  }

  /** Asks the API server itself first: with what is in a namespace nothing is deleted on the word of a cache. */
  async function demolish(house: string, key: ObjectKey, signal: AbortSignal): Promise<void> {
    const namespace = deps.namespaces.get(house);
    if (namespace === undefined || clusterKeyOfNamespace(namespace) !== key) return;
    if ((await deps.rest.get(clusters, refOf(key), { signal })) !== undefined) return;
    await deps.rest.delete(namespaces, namespace.metadata, {
      ...(namespace.metadata.uid !== undefined && { uid: namespace.metadata.uid }),
      signal,
    });
  }
}

/** The key of the Cluster that a namespace belongs to; undefined for every other namespace. */
export function clusterKeyOfNamespace(namespace: Namespace): ObjectKey | undefined {
  const { [clusterNamespaceAnnotation]: workspace, [clusterAnnotation]: name } =
    namespace.metadata.annotations ?? {};
  return workspace === undefined || name === undefined ? undefined : `${workspace}/${name}`;
}
