/** The controller of Bundles as a leader runs it, on an API server in memory, in this process. */
import { type ControllerDeps, createTextSharing } from "@flotilla/hub/base";
import {
  createBundleController,
  createBundlePublisher,
  createDeploymentWrites,
} from "@flotilla/hub/rollout";
import {
  createAggregates,
  createChartResolver,
  createContentStore,
  createMappings,
  createPinSigner,
  createSchedules,
} from "@flotilla/hub/rules";
import {
  bundleDeployments,
  bundleNamespaceMappings,
  bundles,
  clusterGroups,
  clusterRegistrationTokens,
  clusters,
  helmOps,
  policies,
  schedules,
} from "@flotilla/shared/api";
import { hubNamespace } from "@flotilla/shared/api/names";
import { bundleRollouts, gates, rolloutPolicies } from "@flotilla/shared/api/rollout";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import {
  type KubeObject,
  metadataOf,
  namespaces,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import type { MemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createPatterns } from "@flotilla/shared/regex";
import type { DownloadPin } from "@flotilla/shared/source";
import { systemClock as clock } from "@flotilla/shared/time";
import { Registry } from "prom-client";

export interface MemoryHub {
  readonly rest: MemoryApiServer;
  /** How often it has reconciled the Bundle so far, and how long that took. */
  reconciled(): Promise<Reconciled>;
  stop(): Promise<void>;
}

export interface Reconciled {
  readonly count: number;
  readonly ms: number;
}

/** `rest`: with the objects that there are when it starts. All charts have this pin. */
export async function startMemoryHub(rest: MemoryApiServer, pin: DownloadPin): Promise<MemoryHub> {
  const log = silentLog();
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const synced: Promise<void>[] = [];

  function cache<T extends KubeObject>(
    resource: Resource<T>,
    options: { readonly transform?: (object: T) => T } = {},
  ): Informer<T> {
    const informer = createInformer<T>({ rest, resource, log, ...options });
    running.push(informer.run(stop.signal));
    synced.push(informer.synced);
    return informer;
  }

  const caches: ControllerDeps["caches"] = {
    helmOps: cache(helmOps),
    bundles: cache(bundles),
    deployments: cache(bundleDeployments, { transform: createTextSharing() }),
    clusters: cache(clusters),
    groups: cache(clusterGroups),
    policies: cache(policies),
    schedules: cache(schedules),
    mappings: cache(bundleNamespaceMappings),
    workspaces: cache(metadataOf(namespaces)),
    rollouts: cache(bundleRollouts),
    gates: cache(gates),
    rolloutPolicies: cache(rolloutPolicies),
    tokens: cache(clusterRegistrationTokens),
    contents: cache(secrets),
    namespaces: cache(namespaces),
  };
  await Promise.all(synced);
  const events = { record: () => undefined, flush: () => Promise.resolve() };
  const metrics = new Registry();
  const deps: ControllerDeps = { rest, caches, events, clock, log, metrics };
  const aggregates = createAggregates(caches);
  const statuses = createBundlePublisher({ ...deps, aggregates });
  const stopAggregates = aggregates.start();
  const controller = createBundleController({
    ...deps,
    statuses,
    access: {
      of: () => Promise.resolve({ settingsFor: () => ({}), version: "" }),
      keysUsing: () => [],
      forget: () => undefined,
    },
    secrets: { start: () => () => undefined },
    objects: {
      watch: () => undefined,
      unwatch: () => undefined,
      known: () => Promise.resolve({ kind: "absent" }),
      onChange: () => () => undefined,
    },
    charts: createChartResolver({
      resolver: { resolve: () => Promise.resolve({ pin, problems: [] }) },
      deployments: caches.deployments.store,
      clock,
      hubId: "memory",
    }),
    schedules: createSchedules({
      schedules: caches.schedules.store,
      groups: caches.groups.store,
    }),
    mappings: createMappings(caches),
    contents: createContentStore({
      rest,
      stored: caches.contents.store,
      namespace: hubNamespace,
      clock,
    }),
    patterns: createPatterns(),
    signer: createPinSigner(Buffer.from("key")),
    ownerOf: () => undefined,
    onWritten: aggregates.recount,
    deploymentWrites: createDeploymentWrites(),
    refresh: statuses.refresh,
    askAgent: () =>
      Promise.resolve({ kind: "unknown", reason: "Offline", message: "there are no agents" }),
  });
  running.push(controller.run(stop.signal));
  return {
    rest,
    async reconciled() {
      const text = await metrics.getSingleMetricAsString(
        "controller_runtime_reconcile_time_seconds",
      );
      const value = (name: string) =>
        Number(new RegExp(`_${name}\\{controller="bundle"\\} (\\S+)`).exec(text)?.[1]);
      return { count: value("count"), ms: value("sum") * 1_000 };
    },
    async stop() {
      stop.abort();
      stopAggregates();
      await Promise.all(running);
    },
  };
}
