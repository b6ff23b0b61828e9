/**
 * The status of a Bundle: what its reconcile decided, completed with the counts of its deployments. The counts are read from caches
 * when the status is written, so a failed write is repeated with what is true then. The statuses of HelmOps and HelmReleases are
 * completed with it, also before it is written.
 */

import { type Bundle, type BundleStatus, bundles } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { formatTimeMs } from "@flotilla/shared/time";
import { type ControllerDeps, createPublisher, type Publisher } from "../../base/index.ts";
import type { StatusObserver } from "../../events/index.ts";
import { type Aggregates, rollUpBundle } from "../../rules/index.ts";
import { bundleStatus, isUrgentBundle } from "./status.ts";

export interface BundlePublisherDeps
  extends Pick<ControllerDeps, "rest" | "caches" | "clock" | "log"> {
  readonly aggregates: Aggregates;
  readonly observer?: StatusObserver | undefined;
}

export function createBundlePublisher({
  rest,
  caches,
  aggregates,
  observer,
  clock,
  log,
}: BundlePublisherDeps): Publisher<BundleStatus, Bundle> {
  const sources = {
    aggregates,
    deployments: caches.deployments.store,
    clusters: caches.clusters.store,
  };
  return createPublisher<BundleStatus, Bundle>({
    rest,
    clock,
    log,
    resource: bundles,
    store: caches.bundles.store,
    isUrgent: isUrgentBundle,
    beforeWrite: observer?.bundle,
    rollUp: (bundle) =>
      bundleStatus({
        bundle,
        ...rollUpBundle(sources, keyOf(bundle), bundle.status ?? {}),
        now: formatTimeMs(clock.now()),
      }),
  });
}
