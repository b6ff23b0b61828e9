/** Publishes the statuses of Bundles. */
import type { Bundle, BundleStatus } from "@flotilla/shared/api/bundle.ts";
import { bundles } from "@flotilla/shared/api/resources.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { ControllerDeps } from "../cache/deps.ts";
import { createPublisher, type Publisher } from "../status/publisher.ts";
import type { Aggregates } from "../summary/aggregates.ts";
import { rollUpBundle } from "../summary/roll-up-bundle.ts";
import { bundleStatus, isUrgentBundle } from "./status.ts";

export interface BundlePublisherDeps
  extends Pick<ControllerDeps, "rest" | "caches" | "clock" | "log"> {
  readonly aggregates: Aggregates;
}

export function createBundlePublisher({
  rest,
  caches,
  aggregates,
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
    rollUp: (bundle) =>
      bundleStatus({
        bundle,
        ...rollUpBundle(sources, keyOf(bundle), bundle.status ?? {}),
        now: new Date(clock.now()).toISOString(),
      }),
  });
}
