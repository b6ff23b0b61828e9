/** The informers of Flux's kinds, which run only while the CustomResourceDefinitions of the kinds exist. */
import { fluxLeaseNames } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
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
  keepLastWriter,
} from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  keyOf,
  type Lease,
  leases,
  type Resource,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { hubErrors } from "../errors/index.ts";

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
  /** Aborts with FLUX_RUNNING when Flux's controllers start while the hub reconciles their kinds: the process must end. */
  readonly closed: AbortSignal;
  /** Whether a Lease of Flux's controllers keeps the hub from these kinds. */
  isLeftToFlux(): boolean;
  /** Lists and watches what exists until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves once every first list of a kind that exists is complete. */
  synced(): Promise<void>;
  /** Lists again what a newly elected leader decides by. */
  refresh(signal: AbortSignal): Promise<void>;
}

/**
 * Where a Lease of Flux's controllers exists, renewed or not, no informer runs: they reconcile the same objects, and the hub
 * touches none of them. `takeOver`: the hub is to reconcile them although such a Lease exists.
 */
export function createFluxCaches(
  rest: KubeRest,
  log: Log,
  { takeOver }: { readonly takeOver: boolean },
): FluxCaches {
  const closing = new AbortController();
  const fluxLeases = fluxLeaseNames.map((name) =>
    createInformer<Lease>({
      ...{ rest, resource: leases, log: log.child({ cache: "leases of Flux" }) },
      fieldSelector: `metadata.name=${name}`,
    }),
  );
  const held = () => fluxLeases.flatMap(({ store }) => store.list()).at(0);
  const isLeftToFlux = () => !takeOver && held() !== undefined;
  const optional = createOptionalInformers({ rest, log, isAllowed: () => !isLeftToFlux() });

  function leaseChanged(): void {
    const lease = held();
    if (lease !== undefined && !takeOver) {
      const text = `the Lease ${keyOf(lease)} exists: Flux's controllers run in this cluster, or have run; the hub leaves HelmReleases, sources, Alerts and Receivers as they are until it is deleted; to have the hub reconcile them, uninstall Flux's controllers and set the value takeOverFromFlux of the chart flotilla`;
      log.warn({ lease: keyOf(lease) }, text);
      if (optional.isRunning()) closing.abort(new AppError(hubErrors.FLUX_RUNNING, text));
    }
    optional.update();
  }
  for (const informer of fluxLeases)
    informer.onChange(({ before, after }) => {
      // Renewals change nothing.
      if (before === undefined || after === undefined) leaseChanged();
    });

  function cache<T extends KubeObject>(resource: Resource<T>): Informer<T> {
    const child = log.child({ cache: resource.plural });
    const informer = createInformer<T>({ rest, resource, log: child, transform: keepLastWriter });
    return optional.add(resource, informer);
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
    closed: closing.signal,
    isLeftToFlux,
    async run(signal) {
      const watching = fluxLeases.map((informer) => informer.run(signal));
      await Promise.all(fluxLeases.map(({ synced }) => synced)).catch(() => undefined);
      await Promise.all([optional.run(signal), ...watching]);
    },
    async synced() {
      await Promise.all(all.map(({ synced }) => synced));
    },
    async refresh(signal) {
      await Promise.all(all.map((informer) => informer.refresh(signal)));
    },
  };
}
