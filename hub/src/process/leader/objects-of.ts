/** The objects that Alerts may select, by kind, as the caches have them. */
import { byNamespace, defineIndex, type Informer, type Store } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import { appInformers, type Caches, type FluxInformers } from "../../base/index.ts";

interface SelectableObjects {
  /** The objects of a namespace and a name; `*`: of all. */
  find(namespace: string, name: string): readonly KubeObject[];
}

const byName = defineIndex("name", ({ metadata }: KubeObject) => [metadata.name]);

/** Undefined for a kind that is not watched. */
export function objectsOf(
  kind: string,
  caches: Caches,
  flux: FluxInformers,
): SelectableObjects | undefined {
  const informers: Readonly<Record<string, Pick<Informer<KubeObject>, "store">>> = {
    ...appInformers(caches, flux),
    Cluster: caches.clusters,
    HelmChart: flux.helmCharts,
    Bucket: flux.buckets,
    HelmRepository: flux.helmRepositories,
    OCIRepository: flux.ociRepositories,
    GitRepository: flux.gitRepositories,
  };
  const store = informers[kind]?.store;
  return store && { find: (namespace, name) => find(store, namespace, name) };
}

function find(store: Store<KubeObject>, namespace: string, name: string): readonly KubeObject[] {
  if (namespace !== "*" && name !== "*") {
    const object = store.get(keyOf({ namespace, name }));
    return object === undefined ? [] : [object];
  }
  if (namespace !== "*") return store.byIndex(byNamespace, namespace);
  return name === "*" ? store.list() : store.byIndex(byName, name);
}
