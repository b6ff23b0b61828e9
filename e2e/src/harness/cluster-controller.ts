/** The leader's loop of Clusters beside a test's hub: their namespaces, and what becomes of them when they are deleted. */
import { clusterReconciler } from "@flotilla/hub/cluster";
import { clusterKeyOfNamespace } from "@flotilla/hub/clusterstate";
import { clusterNamespaceName, managedLabel } from "@flotilla/shared/api/names";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { createController } from "@flotilla/shared/kube/controller";
import { keyOf, namespaces } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { Registry } from "prom-client";
import { watched } from "./change-signal.ts";
import { cleanUp } from "./cleanup.ts";
import { workspace } from "./hub-control-plane.ts";
import type { TestHub } from "./in-process-hub.ts";

export interface ClusterLoop {
  /** Resolves once the cluster has its namespace. */
  housed(cluster: string): Promise<void>;
  /** From then on the hub is without a leader. */
  stop(): Promise<void>;
}

export async function runClusterLoop(rest: KubeRest, hub: TestHub): Promise<ClusterLoop> {
  const log = silentLog();
  const labelSelector = `${managedLabel}=true`;
  const houses = createInformer({ rest, resource: namespaces, log, labelSelector });
  const watch = watched();
  houses.onChange(() => watch.changed());
  const controller = createController({
    name: "cluster",
    reconcile: clusterReconciler({
      rest,
      clusters: hub.clusters.store,
      deployments: hub.deployments.store,
      namespaces: houses.store,
      tokens: hub.tokens.store,
      refresh: () => undefined,
    }),
    log,
    metrics: new Registry(),
  });
  const ending = new AbortController();
  const running = [houses.run(ending.signal), controller.run(ending.signal)];
  await houses.synced;
  const stopListening = hub.clusters.onChange(({ key }) => controller.enqueue(key));
  for (const cluster of hub.clusters.store.list()) controller.enqueue(keyOf(cluster));
  for (const house of houses.store.list()) {
    const key = clusterKeyOfNamespace(house);
    if (key !== undefined) controller.enqueue(key);
  }
  let isStopped = false;
  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    stopListening();
    ending.abort();
    await Promise.all(running);
  }
  cleanUp(stop);
  return {
    housed: (cluster) => {
      const house = clusterNamespaceName(workspace, cluster);
      return watch.until(() => houses.store.get(house) !== undefined, `${house} is there`);
    },
    stop,
  };
}
