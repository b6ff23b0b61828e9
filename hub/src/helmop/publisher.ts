/** Publishes the statuses of HelmOps. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp, HelmOpStatus } from "@flotilla/shared/api/helm-op.ts";
import { helmOps } from "@flotilla/shared/api/resources.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { ControllerDeps } from "../cache/deps.ts";
import { isBundleOf } from "../cache/keys.ts";
import { createPublisher, type Publisher } from "../status/publisher.ts";
import type { Aggregates } from "../summary/aggregates.ts";
import { rollUpBundle, rollUpObjects } from "../summary/roll-up-bundle.ts";
import { helmOpStatus, isUrgentHelmOp } from "./status.ts";

export interface HelmOpPublisherDeps
  extends Pick<ControllerDeps, "rest" | "caches" | "clock" | "log"> {
  readonly aggregates: Aggregates;
  /** A Bundle with the status that its reconcile decided. */
  readonly decided: (bundle: Bundle) => Bundle;
}

export function createHelmOpPublisher({
  rest,
  caches,
  aggregates,
  decided,
  clock,
  log,
}: HelmOpPublisherDeps): Publisher<HelmOpStatus, HelmOp> {
  const sources = {
    aggregates,
    deployments: caches.deployments.store,
    clusters: caches.clusters.store,
  };
  return createPublisher<HelmOpStatus, HelmOp>({
    rest,
    clock,
    log,
    resource: helmOps,
    store: caches.helmOps.store,
    isUrgent: isUrgentHelmOp,
    rollUp(helmOp) {
      const key = keyOf(helmOp);
      const found = caches.bundles.store.get(key);
      // A Bundle of this name that somebody else made says nothing of the HelmOp.
      const isOther = found !== undefined && !isBundleOf(found, helmOp);
      const bundle = found === undefined || isOther ? undefined : decided(found);
      const { targets, summary = helmOp.status?.summary } = bundle?.status ?? {};
      const rolledUp = rollUpBundle(sources, isOther ? undefined : key, {
        ...(targets !== undefined && { targets }),
        ...(summary !== undefined && { summary }),
      });
      return helmOpStatus({
        helmOp,
        bundle,
        ...rolledUp,
        ...rollUpObjects(sources, key, rolledUp.tally),
        now: new Date(clock.now()).toISOString(),
      });
    },
  });
}
