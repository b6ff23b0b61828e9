/** The leader's controller of Clusters, beside a hub in this process: it creates their namespaces and finalizes them. */

import { clusterKeyOfNamespace } from "@flotilla/hub/base";
import { clusterReconciler } from "@flotilla/hub/fleet";
import { clusterNamespaceName, managedLabel } from "@flotilla/shared/api/names";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { createController } from "@flotilla/shared/kube/controller";
import { keyOf, namespaces } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { Registry } from "prom-client";
import { createChangeSignal } from "./change-signal.ts";
import { cleanUp } from "./cleanup.ts";
import { workspace } from "./hub-control-plane.ts";
import type { InProcessHub } from "./in-process-hub.ts";

export interface ClusterController {
  /** Resolves once the cluster has its namespace. */
  waitForNamespace(cluster: string): Promise<void>;
  /** The hub is without a leader afterwards. */
  stop(): Promise<void>;
}

export async function startClusterController(
  rest: KubeRest,
  hub: InProcessHub,
): Promise<ClusterController> {
  const log = silentLog();
  const labelSelector = `${managedLabel}=true`;
  const clusterNamespaces = createInformer({ rest, resource: namespaces, log, labelSelector });
  const watch = createChangeSignal();
  clusterNamespaces.onChange(() => watch.changed());
  const controller = createController({
    name: "cluster",
    reconcile: clusterReconciler({
      rest,
      clusters: hub.clusters.store,
      deployments: hub.deployments.store,
      namespaces: clusterNamespaces.store,
      tokens: hub.tokens.store,
      refresh: () => undefined,
      events: { record: () => undefined, flush: () => Promise.resolve() },
    }),
    log,
    metrics: new Registry(),
  });
  const ending = new AbortController();
  const running = [clusterNamespaces.run(ending.signal), controller.run(ending.signal)];
  await clusterNamespaces.synced;
  const stopListening = hub.clusters.onChange(({ key }) => controller.enqueue(key));
  for (const cluster of hub.clusters.store.list()) controller.enqueue(keyOf(cluster));
  for (const namespace of clusterNamespaces.store.list()) {
    const key = clusterKeyOfNamespace(namespace);
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
    waitForNamespace: (cluster) => {
      const namespace = clusterNamespaceName(workspace, cluster);
      return watch.until(() => clusterNamespaces.store.get(namespace) !== undefined, namespace);
    },
    stop,
  };
}
