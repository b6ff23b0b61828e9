/** The objects that Alerts may select, by kind, as the caches have them. */
import type { Informer } from "@flotilla/shared/kube/cache";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { Caches, FluxInformers } from "../cache/index.ts";

interface SelectableObject {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Undefined for a kind that is not watched. */
export function objectsOf(
  kind: string,
  { helmOps, bundles, clusters }: Caches,
  flux: FluxInformers,
): readonly SelectableObject[] | undefined {
  const informers: Readonly<Record<string, Pick<Informer<KubeObject>, "store">>> = {
    ...{ HelmOp: helmOps, Bundle: bundles, Cluster: clusters },
    ...{ HelmRelease: flux.helmReleases, HelmChart: flux.helmCharts, Bucket: flux.buckets },
    ...{ HelmRepository: flux.helmRepositories, OCIRepository: flux.ociRepositories },
    GitRepository: flux.gitRepositories,
  };
  return informers[kind]?.store.list().map(({ metadata }) => {
    const { namespace = "", name, labels = {} } = metadata;
    return { namespace, name, labels };
  });
}
