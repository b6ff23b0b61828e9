/** Runs the controller of agents' presence, keyed by Cluster, on every replica. */
import type { Cluster } from "@flotilla/shared/api";
import type { Informer } from "@flotilla/shared/kube/cache";
import { createController } from "@flotilla/shared/kube/controller";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import type { Presence } from "./presence.ts";

export interface PresenceControllerDeps {
  readonly presence: Presence;
  readonly clusters: Pick<Informer<Cluster>, "store" | "onChange">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

/** Records which agents of this replica are offline, until `signal` aborts. The informer must have synced. */
export async function runPresenceController(
  { presence, clusters, ...deps }: PresenceControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const controller = createController({
    ...deps,
    name: "presence",
    reconcile: presence.reconcile,
    workers: 8,
  });
  const stops = [
    presence.onChange((key) => controller.enqueue(key)),
    clusters.onChange(({ key, after }) => presence.clusterChanged(key, after)),
  ];
  for (const cluster of clusters.store.list())
    if (cluster.status?.agent?.connected === true) controller.enqueue(keyOf(cluster));
  await controller.run(signal);
  for (const stop of stops) stop();
}
