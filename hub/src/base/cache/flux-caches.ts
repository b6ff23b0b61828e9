/**
 * The informers of Flux's kinds, which run while the CustomResourceDefinitions of the kinds exist and Flux's own controllers do
 * not run. Only Leases in the namespaces that the operator of the hub has named tell that they run: a Lease in any other
 * namespace is one that everybody with the role `edit` there can create.
 */
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
import { fenceWrites } from "@flotilla/shared/kube/leaderelection";
import {
  type KubeObject,
  keyOf,
  type Lease,
  leases,
  type Resource,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { hubErrors } from "../errors/hub-errors.ts";

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
  /** Whether a Lease of Flux's controllers keeps the hub from these kinds. */
  isLeftToFlux(): boolean;
  /** Calls `listener` each time the hub starts to leave these kinds to Flux; returns the function that removes it. */
  onLeft(listener: () => void): () => void;
  /** The same client, whose writes throw FLUX_RUNNING while these kinds are left to Flux: for what was in progress. */
  fence(rest: KubeRest): KubeRest;
  /** Lists and watches what exists until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves once every first list of a kind that exists is complete. */
  synced(): Promise<void>;
  /** Lists again what a newly elected leader decides by. */
  refresh(signal: AbortSignal): Promise<void>;
}

export interface FluxCachesOptions {
  /** The hub is to reconcile these kinds although a Lease of Flux's controllers exists. */
  readonly takeOver: boolean;
  /** Where Flux's controllers have their Leases. */
  readonly namespaces: readonly string[];
}

/** Leases elsewhere that the log names; a tenant may create many. */
const mostForeign = 20;

/**
 * While a Lease of Flux's controllers exists, renewed or not, no informer runs, and the stores are empty: they reconcile the same
 * objects, and the hub touches none of them. Informers stop and start while the process runs.
 */
export function createFluxCaches(
  rest: KubeRest,
  log: Log,
  { takeOver, namespaces }: FluxCachesOptions,
): FluxCaches {
  const fluxLeases = fluxLeaseNames.map((name) =>
    createInformer<Lease>({
      rest,
      resource: leases,
      log: log.child({ cache: "leases of Flux" }),
      fieldSelector: `metadata.name=${name}`,
    }),
  );
  const listeners = new Set<() => void>();
  const foreign = new Set<string>();
  let isLeft = false;
  const isOfFlux = ({ metadata }: Lease) => namespaces.includes(metadata.namespace ?? "");
  const held = () => fluxLeases.flatMap(({ store }) => store.list()).find(isOfFlux);
  const isLeftToFlux = () => !takeOver && held() !== undefined;
  const optional = createOptionalInformers({ rest, log, isAllowed: () => !isLeftToFlux() });

  function leaseChanged(): void {
    const lease = takeOver ? undefined : held();
    const wasLeft = isLeft;
    isLeft = lease !== undefined;
    if (isLeft === wasLeft) return;
    if (lease !== undefined) log.warn({ lease: keyOf(lease) }, leftText(keyOf(lease)));
    else log.info("no Lease of Flux's controllers exists any more, reconciling Flux's kinds");
    optional.update();
    if (isLeft) for (const listener of listeners) listener();
  }

  /** It decides nothing, but the operator may have forgotten to name the namespace. */
  function warnOfForeign(lease: Lease): void {
    const key = keyOf(lease);
    if (foreign.has(key) || foreign.size >= mostForeign) return;
    foreign.add(key);
    log.warn(
      { lease: key, namespaces },
      "a Lease with the name of one of Flux's controllers exists in another namespace, which changes nothing; if Flux runs there, add the namespace to the value flux.namespaces of the chart flotilla",
    );
  }

  for (const informer of fluxLeases)
    informer.onChange(({ before, after }) => {
      // Renewals change nothing.
      if (before !== undefined && after !== undefined) return;
      if (after !== undefined && !takeOver && !isOfFlux(after)) warnOfForeign(after);
      leaseChanged();
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
    isLeftToFlux,
    onLeft(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    fence: (unfenced) =>
      fenceWrites(unfenced, {
        confirmLeading() {
          const lease = takeOver ? undefined : held();
          if (lease === undefined) return Promise.resolve();
          return Promise.reject(new AppError(hubErrors.FLUX_RUNNING, leftText(keyOf(lease))));
        },
        remainingMs: () => Number.POSITIVE_INFINITY,
      }),
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

function leftText(lease: string): string {
  return `the Lease ${lease} exists: Flux's controllers run in this cluster, or have run; the hub leaves HelmReleases, sources, Alerts and Receivers as they are until it is deleted; to have the hub reconcile them, uninstall Flux's controllers and set the value takeOverFromFlux of the chart flotilla`;
}
