/**
 * The status of a HelmRelease: what its reconcile decided, completed with its Bundle's status and its deployments, as Flux shows a
 * release. Everything but the decision is read from caches when it is written, so a failed write is repeated with what is true then.
 * While the HelmRelease is deleted its Bundle may be gone, and the deployments that are left are shown all the same.
 */
import type { Bundle, BundleDeployment } from "@flotilla/shared/api";
import {
  type HelmRelease,
  type HelmReleaseStatus,
  helmReleases,
  maxReleaseClusters,
} from "@flotilla/shared/flux";
import { refOf } from "@flotilla/shared/kube/objects";
import { formatTimeMs } from "@flotilla/shared/time";
import {
  type ControllerDeps,
  clusterKeyOf,
  createPublisher,
  type FluxInformers,
  offlineCheck,
  offlineSince,
  type Publisher,
} from "../../base/index.ts";
import type { StatusObserver } from "../../events/index.ts";
import {
  type Aggregates,
  differingArchives,
  isOwnBundle,
  rollUpBundle,
  worstDeployments,
} from "../../rules/index.ts";
import { notifiedStatus } from "./notified-status.ts";
import { bundleKeyFor } from "./plan.ts";
import { releaseCluster } from "./release-cluster.ts";
import { helmReleaseStatus, isUrgentHelmRelease } from "./status.ts";

export interface HelmReleasePublisherDeps
  extends Pick<ControllerDeps, "rest" | "caches" | "clock" | "log"> {
  readonly flux: Pick<FluxInformers, "helmReleases">;
  readonly aggregates: Aggregates;
  /** A Bundle with the status that its reconcile decided. */
  readonly decided: (bundle: Bundle) => Bundle;
  readonly observer?: StatusObserver | undefined;
}

export function createHelmReleasePublisher({
  rest,
  caches,
  flux,
  aggregates,
  decided,
  observer,
  clock,
  log,
}: HelmReleasePublisherDeps): Publisher<HelmReleaseStatus, HelmRelease> {
  const sources = {
    aggregates,
    deployments: caches.deployments.store,
    clusters: caches.clusters.store,
  };
  const isOffline = offlineCheck(caches.clusters.store);
  return createPublisher<HelmReleaseStatus, HelmRelease>({
    rest,
    clock,
    log,
    resource: helmReleases,
    store: flux.helmReleases.store,
    isUrgent: isUrgentHelmRelease,
    beforeWrite(release, next) {
      const bundle = caches.bundles.store.get(bundleKeyFor(release));
      const status = notifiedStatus(release.status, bundle);
      observer?.release({ ...release, status }, notifiedStatus(next, bundle));
    },
    rollUp(release) {
      const key = bundleKeyFor(release);
      const found = caches.bundles.store.get(key);
      const bundle =
        found === undefined || !isOwnBundle("HelmRelease", release, found)
          ? undefined
          : decided(found);
      const { targets, summary } = bundle?.status ?? {};
      // The Bundle is gone before its deployments are uninstalled.
      const isUninstalled = found === undefined && release.metadata.deletionTimestamp !== undefined;
      const isDeployed = bundle !== undefined || isUninstalled;
      const rolledUp = rollUpBundle(sources, isDeployed ? key : undefined, {
        ...(targets !== undefined && { targets }),
        ...(summary !== undefined && { summary }),
        lastSuccess: release.status?.lastSuccess,
        lastResults: release.status?.lastResults,
      });
      const deployments = worstDeployments(
        rolledUp.aggregate,
        caches.deployments.store,
        maxReleaseClusters,
      );
      return helmReleaseStatus({
        release,
        bundle,
        ...rolledUp,
        differing: differingArchives(
          aggregates.archivesOf(key),
          bundle?.status?.uncheckedContents ?? {},
        ),
        deployments,
        clusterOf: (deployment: BundleDeployment) =>
          releaseCluster(deployment, refOf(clusterKeyOf(deployment)), {
            isOffline: isOffline(deployment),
            since: offlineSince(caches.clusters.store.get(clusterKeyOf(deployment))),
          }),
        now: formatTimeMs(clock.now()),
      });
    },
  });
}
