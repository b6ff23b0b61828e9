/** The informers of Flux's kinds, which run only while the CustomResourceDefinitions of the kinds exist. */
import {
  type Alert,
  alerts,
  type Bucket,
  buckets,
  type GitRepository,
  gitRepositories,
  type HelmChart,
  type HelmRelease,
  type HelmRepository,
  helmCharts,
  helmReleases,
  helmRepositories,
  type OCIRepository,
  ociRepositories,
  type Provider,
  providers,
  type Receiver,
  receivers,
} from "@flotilla/shared/flux";
import {
  createInformer,
  createOptionalInformers,
  type Informer,
} from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";

export interface FluxInformers {
  readonly helmReleases: Informer<HelmRelease>;
  readonly helmRepositories: Informer<HelmRepository>;
  readonly ociRepositories: Informer<OCIRepository>;
  readonly gitRepositories: Informer<GitRepository>;
  readonly buckets: Informer<Bucket>;
  readonly helmCharts: Informer<HelmChart>;
  readonly alerts: Informer<Alert>;
  readonly providers: Informer<Provider>;
  readonly receivers: Informer<Receiver>;
}

export interface FluxCaches extends FluxInformers {
  /** Lists and watches what exists until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves once every first list of a kind that exists is complete. */
  synced(): Promise<void>;
  /** Lists again what a newly elected leader decides by. */
  refresh(signal: AbortSignal): Promise<void>;
}

export function createFluxCaches(rest: KubeRest, log: Log): FluxCaches {
  const optional = createOptionalInformers({ rest, log });

  function cache<T extends KubeObject>(resource: Resource<T>): Informer<T> {
    const child = log.child({ cache: resource.plural });
    return optional.add(resource, createInformer<T>({ rest, resource, log: child }));
  }

  const informers: FluxInformers = {
    helmReleases: cache(helmReleases),
    helmRepositories: cache(helmRepositories),
    ociRepositories: cache(ociRepositories),
    gitRepositories: cache(gitRepositories),
    buckets: cache(buckets),
    helmCharts: cache(helmCharts),
    alerts: cache(alerts),
    providers: cache(providers),
    receivers: cache(receivers),
  };
  const all: readonly Pick<Informer<KubeObject>, "synced" | "refresh">[] = Object.values(informers);
  return {
    ...informers,
    run: (signal) => optional.run(signal),
    async synced() {
      await Promise.all(all.map(({ synced }) => synced));
    },
    async refresh(signal) {
      await Promise.all(all.map((informer) => informer.refresh(signal)));
    },
  };
}
