/**
 * Has Bundles looked at because clusters have changed. A look goes through all clusters of the Bundle, so what follows the
 * first changes is looked at together: otherwise five thousand agents that enrol would have their Bundles read all
 * clusters some thousand times.
 */
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import type { Controller } from "@flotilla/shared/kube/controller.ts";
import type { ObjectKey } from "@flotilla/shared/kube/object.ts";
import { createRateLimit } from "../serve/rate-limit.ts";

/** Of each Bundle. */
const atOnce = { burst: 4, perSecond: 2 };
const togetherMs = 500;

/** The result is told the key of a Bundle, once for each change of a cluster that it goes to. */
export function lookBecauseOfClusters(
  bundles: Pick<Controller, "enqueue" | "enqueueAfter">,
  clock: Clock,
): (bundle: ObjectKey) => void {
  const limit = createRateLimit({ clock, ...atOnce });
  return (bundle) => {
    if (limit.take(bundle)) bundles.enqueue(bundle);
    else bundles.enqueueAfter(bundle, togetherMs);
  };
}
