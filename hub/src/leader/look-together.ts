/**
 * Has Bundles looked at because clusters or deployments of theirs have changed. A look goes through all of them, so what
 * follows the first changes is looked at together: otherwise five thousand agents that enrol, or as many deployments that
 * were written, would have each Bundle read all of them some thousand times, for seconds without a pause. Where there are few,
 * nothing waits.
 */

import { createKeyedRateLimiter } from "@flotilla/shared/concurrency/token-bucket.ts";
import type { Controller } from "@flotilla/shared/kube/controller/controller.ts";
import type { ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";

/** For each Bundle, in clusters that its looks go through; however many there are, it is looked at twice a second. */
const budget = { burst: 5_000, perSecond: 10_000 };
const togetherMs = 500;

/** The result is told the key of a Bundle, once for each change of one of many. */
export function lookTogether(
  bundles: Pick<Controller, "enqueue" | "enqueueAfter">,
  clusters: { readonly size: number },
  clock: Clock,
): (bundle: ObjectKey) => void {
  const limit = createKeyedRateLimiter({ clock, ...budget });
  return (bundle) => {
    if (limit.take(bundle, Math.min(clusters.size, budget.burst))) bundles.enqueue(bundle);
    else bundles.enqueueAfter(bundle, togetherMs);
  };
}
