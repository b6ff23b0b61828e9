/** The leader's work, from the moment that it leads until it does not any more. */
import type { Resolver } from "@flotilla/shared/charts/resolve.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Registry } from "prom-client";
import type { ContentStore } from "../content/content-store.ts";
import { registerSeries } from "../metrics/series-metric.ts";
import { statusMetrics } from "../metrics/status-metrics.ts";
import type { WorkspaceObjects } from "../supply/workspace-objects.ts";
import type { Caches } from "./caches.ts";
import { createKnowledge } from "./knowledge.ts";
import { createLoops } from "./loops.ts";
import { reactToChanges } from "./react-to-changes.ts";

export interface ControlDeps {
  /** Refuses writes once the leadership is lost. */
  readonly rest: KubeRest;
  readonly caches: Caches;
  readonly contents: ContentStore;
  /** Names the hub. */
  readonly hubId: string;
  readonly objects: WorkspaceObjects;
  readonly resolver: Resolver;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

/** Runs until `signal` aborts. The caches must have synced. */
export async function runControllers(deps: ControlDeps, signal: AbortSignal): Promise<void> {
  const { helmOps, bundles, clusters } = deps.caches;
  const knowledge = createKnowledge(deps);
  const loops = createLoops(deps, knowledge);
  // One replica tells them, the one that writes what they count.
  const stopMetrics = registerSeries(
    deps.metrics,
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
