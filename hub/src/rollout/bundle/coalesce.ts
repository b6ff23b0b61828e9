/**
 * Coalesces the reconciles of a Bundle that follow from changes of its clusters and deployments. A reconcile iterates
 * over all clusters: without this, five thousand agents that enrol, or as many deployment writes, would make each
 * Bundle read all of them some thousand times. With a few clusters nothing is delayed.
 */

import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import type { Enqueue } from "@flotilla/shared/kube/controller";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";

/** For each Bundle, in clusters that its reconciles go through; however many there are, it is reconciled twice a second. */
const budget = { burst: 5_000, perSecond: 10_000 };
const coalesceMs = 500;

export interface Coalescer {
  /** How long the next reconcile of a Bundle that goes through all clusters has to wait, ms. */
  delayOf(bundle: ObjectKey): number;
}

export function createCoalescer(clusters: { readonly size: number }, clock: Clock): Coalescer {
  const limit = createKeyedRateLimiter({ clock, ...budget });
  return {
    delayOf: (bundle) =>
      limit.take(bundle, Math.min(clusters.size, budget.burst)) ? 0 : coalesceMs,
  };
}

/** An event handler that enqueues the key of a Bundle at once, or together with what follows. */
export function coalesce(
  enqueueAfter: (key: ObjectKey, delayMs: number) => void,
  { delayOf }: Coalescer,
): (enqueue: Enqueue) => Enqueue {
  return (enqueue) => (bundle) => {
    const delayMs = delayOf(bundle);
    if (delayMs === 0) enqueue(bundle);
    else enqueueAfter(bundle, delayMs);
  };
}
