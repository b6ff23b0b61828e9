import { statusMetrics } from "../metrics/status-metrics.ts";
import type { ControlDeps } from "./control-deps.ts";
import { createKnowledge } from "./knowledge.ts";
import { createLoops } from "./loops.ts";
import { reactToChanges } from "./react-to-changes.ts";

/** Runs until `signal` aborts. The caches must have synced. */
export async function runControllers(deps: ControlDeps, signal: AbortSignal): Promise<void> {
  const { helmOps, bundles, clusters } = deps.caches;
  const knowledge = createKnowledge(deps);
  const loops = createLoops(deps, knowledge);
  // One replica tells them, the one that writes what they count.
  const stopMetrics = deps.series.register(
    statusMetrics({
      helmOps: () => helmOps.store.list(),
      bundles: () => bundles.store.list(),
      clusters: () => clusters.store.list(),
    }),
  );
  const stopReacting = reactToChanges(deps, knowledge, loops);
  try {
    await Promise.all(Object.values(loops).map((loop) => loop.run(signal)));
  } finally {
    stopReacting();
    stopMetrics();
    await knowledge.statuses.flush();
  }
}
