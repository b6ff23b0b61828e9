/** Waits, by watching, until the statuses on the hub tell of nothing that is wrong. */
import { bundleDeployments, bundles, clusters, helmOps } from "@flotilla/shared/api";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { auditStatus, type HubState } from "./audit-status.ts";
import type { Wanted } from "./rollouts.ts";

/** Resolves with the state; rejects with what is still wrong after `timeoutMs`. */
export async function converged(
  rest: KubeRest,
  wanted: readonly Wanted[],
  timeoutMs: number,
): Promise<HubState> {
  const stop = new AbortController();
  const informerOf = <T extends KubeObject>(resource: Resource<T>) =>
    createInformer<T>({ rest, resource, log: silentLog() });
  const informers = {
    helmOps: informerOf(helmOps),
    bundles: informerOf(bundles),
    deployments: informerOf(bundleDeployments),
    clusters: informerOf(clusters),
  };
  const running = Object.values(informers).map((informer) => informer.run(stop.signal));
  const state = (): HubState => ({
    helmOps: informers.helmOps.store.list(),
    bundles: informers.bundles.store.list(),
    deployments: informers.deployments.store.list(),
    clusters: informers.clusters.store.list(),
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<HubState>((resolve, reject) => {
      const isSynced = () => Object.values(informers).every(({ hasSynced }) => hasSynced);
      const look = (): void => {
        if (isSynced() && auditStatus(state(), wanted).length === 0) resolve(state());
      };
      for (const informer of Object.values(informers)) {
        informer.onChange(look);
        informer.synced.then(look, reject);
      }
      timer = setTimeout(() => {
        const wrong = isSynced()
          ? auditStatus(state(), wanted)
          : ["the API server does not answer"];
        reject(new Error(`after ${timeoutMs / 1_000} s:\n${wrong.join("\n")}`));
      }, timeoutMs);
    });
  } finally {
    clearTimeout(timer);
    stop.abort();
    await Promise.all(running);
  }
}
