/** The controllers of the leader and the publishers of statuses, put together. */

import type { Bundle } from "@flotilla/shared/api";
import { byNamespace } from "@flotilla/shared/kube/cache";
import { type Controller, ownKey, startWatches, watch } from "@flotilla/shared/kube/controller";
import { type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { createPatterns } from "@flotilla/shared/regex";
import { bundleKeyOf, clusterNamespaceNames } from "../../base/index.ts";
import {
  clusterStatusWatches,
  createClusterController,
  createClusterGroupPublisher,
  createClusterPublisher,
  createMappingController,
  createMappingPublisher,
  createScheduleController,
  createSchedulePublisher,
} from "../../fleet/index.ts";
import { metricsOfApps, runFrontEnds } from "../../frontends/index.ts";
import {
  createBundleController,
  createBundlePublisher,
  createContentController,
  createDeploymentWrites,
  createTombstoneController,
} from "../../rollout/index.ts";
import {
  createAggregates,
  createChartAccess,
  createChartResolver,
  createMappings,
  createSchedules,
  isCountingChange,
  rolloutMetrics,
  type SeriesRegistry,
  statusMetrics,
  watchSecrets,
} from "../../rules/index.ts";
import type { RunDeps } from "./deps.ts";
import { createFluxSources } from "./flux-sources.ts";

export interface Controllers {
  readonly all: readonly Controller[];
  /** Keeps aggregates and statuses up to date from now on; the result stops it. To be called before the controllers run. */
  start(): () => void;
  /** Writes the statuses that wait. */
  flush(): Promise<void>;
}

/** Runs until `signal` aborts. The caches must have synced. */
export async function runControllers(
  deps: RunDeps & { readonly series: Pick<SeriesRegistry, "register"> },
  signal: AbortSignal,
): Promise<void> {
  const { helmOps, bundles, clusters, rollouts } = deps.caches;
  const controllers = createControllers(deps);
  // Only the leader has these metrics: it writes what they count.
  const stopMetrics = deps.series.register([
    ...metricsOfApps({
      HelmOp: helmOps.store,
      HelmRelease: deps.flux?.informers.helmReleases.store ?? { list: () => [] },
      Bundle: bundles.store,
    }),
    ...statusMetrics({
      bundles: () => bundles.store.list(),
      clusters: () => clusters.store.list(),
    }),
    ...rolloutMetrics({
      bundles: () => bundles.store.list(),
      rolloutOf: (key) => rollouts.store.get(key),
      now: () => deps.clock.now(),
    }),
  ]);
  const stop = controllers.start();
  try {
    await Promise.all(controllers.all.map((controller) => controller.run(signal)));
  } finally {
    stop();
    stopMetrics();
    await controllers.flush();
  }
}

export function createControllers(deps: RunDeps): Controllers {
  const { caches, objects } = deps;
  const patterns = createPatterns();
  const aggregates = createAggregates(caches);
  const bundleStatuses = createBundlePublisher({ ...deps, aggregates });
  const decided = (bundle: Bundle): Bundle => {
    const status = bundleStatuses.current(bundle);
    return status === bundle.status || status === undefined ? bundle : { ...bundle, status };
  };
  const charts = createChartResolver({ ...deps, deployments: caches.deployments.store });
  const schedules = createSchedules({
    schedules: caches.schedules.store,
    groups: caches.groups.store,
  });
  const scheduleStatuses = createSchedulePublisher(deps);
  const mappings = createMappings(caches);
  const mappingStatuses = createMappingPublisher(deps);
  // A HelmOp for a thousand clusters changes the status of each: these wait until its deployments are there.
  const deploymentWrites = createDeploymentWrites();
  const clusterStatuses = createClusterPublisher({
    ...deps,
    aggregates,
    schedules,
    goesFirst: deploymentWrites,
  });
  const groupStatuses = createClusterGroupPublisher({ ...deps, aggregates });
  // A Bundle that was applied by hand may have the key of a HelmOp that does not manage it.
  const bundleAccess = createChartAccess(deps);

  const frontEnds = runFrontEnds({
    ...deps,
    aggregates,
    decided,
    charts,
    patterns,
    fluxFrontEnd: deps.flux && { ...deps.flux, flux: deps.flux.informers },
  });
  const sources = deps.flux && createFluxSources(deps, deps.flux);

  function refreshBundle(key: ObjectKey): void {
    bundleStatuses.refresh(key);
    for (const frontEnd of frontEnds) frontEnd.refresh(key);
  }

  function refreshBundleLater(key: ObjectKey): void {
    bundleStatuses.refreshLater(key);
    for (const frontEnd of frontEnds) frontEnd.refreshLater(key);
  }

  return {
    all: [
      ...frontEnds.flatMap(({ controllers }) => controllers),
      createBundleController({
        ...deps,
        statuses: bundleStatuses,
        access: bundleAccess,
        secrets: watchSecrets(objects, bundleAccess),
        charts,
        patterns,
        schedules,
        mappings,
        ownerOf: (kind, key) => frontEnds.find((frontEnd) => frontEnd.kind === kind)?.objectOf(key),
        onWritten: aggregates.recount,
        deploymentWrites,
        refresh: refreshBundle,
      }),
      createClusterController({ ...deps, aggregates, schedules, statuses: clusterStatuses }),
      createScheduleController({
        ...deps,
        schedules,
        statuses: scheduleStatuses,
        clusterStatuses,
      }),
      createMappingController({ ...deps, mappings, statuses: mappingStatuses }),
      createTombstoneController(deps),
      createContentController(deps),
      ...(sources?.controllers ?? []),
    ],
    start() {
      const stops = [
        // First: the statuses are rolled up from what these count.
        aggregates.start(),
        startWatches(
          [
            watch(caches.deployments, {
              toKeys: ({ before, after }) =>
                [after ?? before].flatMap((each) =>
                  each === undefined ? [] : [bundleKeyOf(each)],
                ),
              replay: false,
            }),
          ],
          refreshBundle,
        ),
        startWatches(
          [
            watch(caches.clusters, {
              predicate: isCountingChange,
              toKeys: ({ key }) => bundlesIn(caches, key),
              replay: false,
            }),
          ],
          refreshBundleLater,
        ),
        startWatches(clusterStatusWatches(caches), clusterStatuses.refresh),
        aggregates.onGroupChange((group, isBurst) => {
          if (isBurst) groupStatuses.refreshLater(group);
          else groupStatuses.refresh(group);
        }),
        startWatches([watch(caches.groups, { toKeys: ownKey })], groupStatuses.refresh),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
    async flush() {
      await Promise.all(
        [
          ...frontEnds,
          ...[bundleStatuses, clusterStatuses, groupStatuses, scheduleStatuses, mappingStatuses],
          ...(sources?.publishers ?? []),
        ].map((publisher) => publisher.flush()),
      );
    },
  };
}

/** The Bundles that are deployed to a cluster. */
function bundlesIn({ deployments }: RunDeps["caches"], cluster: ObjectKey): readonly ObjectKey[] {
  const { namespace = "", name } = refOf(cluster);
  return clusterNamespaceNames(namespace, name)
    .flatMap((each) => deployments.store.byIndex(byNamespace, each))
    .map(bundleKeyOf);
}
