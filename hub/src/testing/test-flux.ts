/** Flux's kinds as stores that a test changes itself, and what their controllers need on an API server in memory. */
import { createFairSemaphore } from "@flotilla/shared/concurrency";
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
import type { Informer } from "@flotilla/shared/kube/cache";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { ReadIndex } from "@flotilla/shared/source/client";
import type { Clock } from "@flotilla/shared/time";
import type { FluxCaches } from "../base/cache/flux-caches.ts";
import { chartFactsOf } from "../base/reader/chart-facts.ts";
import type { FluxDeps } from "../process/leader/deps.ts";
import { createReconcileDurations } from "../rules/metrics/reconcile-durations.ts";
import { createWatchedStore, type WatchedStore } from "./watched-store.ts";

export interface TestFlux {
  readonly informers: FluxCaches;
  /** Calls with each kind and its store. */
  each(visit: <T extends KubeObject>(store: WatchedStore<T>, resource: Resource<T>) => void): void;
}

export function createTestFlux(): TestFlux {
  const stores = {
    helmReleases: createWatchedStore<HelmRelease>(),
    helmRepositories: createWatchedStore<HelmRepository>(),
    ociRepositories: createWatchedStore<OCIRepository>(),
    gitRepositories: createWatchedStore<GitRepository>(),
    buckets: createWatchedStore<Bucket>(),
    helmCharts: createWatchedStore<HelmChart>(),
    alerts: createWatchedStore<Alert>(),
    providers: createWatchedStore<Provider>(),
    receivers: createWatchedStore<Receiver>(),
  };
  return {
    informers: {
      helmReleases: informerOf(stores.helmReleases),
      helmRepositories: informerOf(stores.helmRepositories),
      ociRepositories: informerOf(stores.ociRepositories),
      gitRepositories: informerOf(stores.gitRepositories),
      buckets: informerOf(stores.buckets),
      helmCharts: informerOf(stores.helmCharts),
      alerts: informerOf(stores.alerts),
      providers: informerOf(stores.providers),
      receivers: informerOf(stores.receivers),
      isLeftToFlux: () => false,
      onLeft: () => () => undefined,
      fence: (rest) => rest,
      run: () => Promise.resolve(),
      synced: () => Promise.resolve(),
      refresh: () => Promise.resolve(),
    },
    each(visit) {
      visit(stores.alerts, alerts);
      visit(stores.providers, providers);
      visit(stores.receivers, receivers);
      visit(stores.helmRepositories, helmRepositories);
      visit(stores.ociRepositories, ociRepositories);
      visit(stores.gitRepositories, gitRepositories);
      visit(stores.buckets, buckets);
      visit(stores.helmCharts, helmCharts);
      visit(stores.helmReleases, helmReleases);
    },
  };
}

/** Its `run` does nothing: the test delivers. */
function informerOf<T extends KubeObject>(store: WatchedStore<T>): Informer<T> {
  return {
    store: store.store,
    onChange: store.onChange,
    hasSynced: true,
    synced: Promise.resolve(),
    run: () => Promise.resolve(),
    refresh: () => Promise.resolve(),
    clear: () => undefined,
  };
}

const budgetBytes = 1024 * 1024;

export interface TestSources {
  /** The indexes of HelmRepositories. */
  readonly readIndex: ReadIndex;
  /** Absent: there are no Buckets. */
  readonly bucketClient?: FluxDeps["bucketClient"] | undefined;
  /** Absent: there are no GitRepositories. */
  readonly git?: FluxDeps["gitParts"]["git"] | undefined;
  /** Absent: there are no OCIRepositories. */
  readonly artifacts?: FluxDeps["artifacts"] | undefined;
}

/** With HelmRepositories, and the other sources as far as there are such. */
export function testFluxDeps(
  informers: FluxCaches,
  { readIndex, bucketClient, git, artifacts }: TestSources,
  clock: Clock,
): FluxDeps {
  const unsupported = () => Promise.reject(new Error("this test has no such source"));
  return {
    informers,
    readIndex,
    artifacts: artifacts ?? {
      tagOf: unsupported,
      digestOf: unsupported,
      read: unsupported,
      isSigned: unsupported,
    },
    bucketClient: bucketClient ?? { list: unsupported, readObject: unsupported },
    gitParts: {
      git: git ?? { resolve: unsupported, readFiles: unsupported, verify: unsupported },
      mint: unsupported,
    },
    options: { crossNamespaceReferences: false, requireLocalAccount: false },
    durations: createReconcileDurations(clock),
    budget: createFairSemaphore({ capacity: budgetBytes, share: budgetBytes }),
    readChart: (task) => Promise.resolve(chartFactsOf(task)),
  };
}
