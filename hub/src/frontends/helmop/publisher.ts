/**
 * The status of a HelmOp: what its reconcile decided, completed with its Bundle's status and the counts of its deployments. Everything
 * but the decision is read from caches when it is written, so a failed write loses nothing: it is repeated with what is true then.
 * A Bundle of the same name that another client created adds nothing.
 */

import { type Bundle, type HelmOp, type HelmOpStatus, helmOps } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { formatTimeMs } from "@flotilla/shared/time";
import { type ControllerDeps, createPublisher, type Publisher } from "../../base/index.ts";
import type { StatusObserver } from "../../events/index.ts";
import {
  type Aggregates,
  type ChartResolver,
  isOwnBundle,
  rollUpBundle,
  rollUpObjects,
} from "../../rules/index.ts";
import { helmOpStatus, isUrgentHelmOp } from "./status.ts";

export interface HelmOpPublisherDeps
  extends Pick<ControllerDeps, "rest" | "caches" | "clock" | "log"> {
  readonly aggregates: Aggregates;
  /** A Bundle with the status that its reconcile decided. */
  readonly decided: (bundle: Bundle) => Bundle;
  readonly charts: Pick<ChartResolver, "retryingSinceMs">;
  readonly observer?: StatusObserver | undefined;
}

export function createHelmOpPublisher({
  rest,
  caches,
  aggregates,
  decided,
  charts,
  observer,
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
    beforeWrite: observer?.release,
    rollUp(helmOp) {
      const key = keyOf(helmOp);
      const found = caches.bundles.store.get(key);
      // A Bundle of this name that another client created has no state of the HelmOp.
      const isOther = found !== undefined && !isOwnBundle("HelmOp", helmOp, found);
      const bundle = found === undefined || isOther ? undefined : decided(found);
      const { targets, summary = helmOp.status?.summary } = bundle?.status ?? {};
      const rolledUp = rollUpBundle(sources, isOther ? undefined : key, {
        ...(targets !== undefined && { targets }),
        ...(summary !== undefined && { summary }),
        lastSuccess: helmOp.status?.lastSuccess,
        lastResults: helmOp.status?.lastResults,
      });
      return helmOpStatus({
        helmOp,
        bundle,
        ...rolledUp,
        ...rollUpObjects(sources, key, rolledUp.aggregate),
        retryingSinceMs: charts.retryingSinceMs(helmOp),
        now: formatTimeMs(clock.now()),
      });
    },
  });
}
