/** Waits, by watches, until the statuses on the hub are those of the desired state. */
import { bundleDeployments, bundles, clusters, helmOps } from "@flotilla/shared/api";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { auditStatus, type HubState } from "./audit-status.ts";
import type { DesiredRelease } from "./rollouts.ts";

/** Resolves with the state; rejects with the differences after `timeoutMs`. */
export async function converged(
  rest: KubeRest,
  desired: readonly DesiredRelease[],
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
      const evaluate = (): void => {
        if (isSynced() && auditStatus(state(), desired).length === 0) resolve(state());
      };
      for (const informer of Object.values(informers)) {
        informer.onChange(evaluate);
        informer.synced.then(evaluate, reject);
      }
      timer = setTimeout(() => {
        const wrong = isSynced()
          ? auditStatus(state(), desired)
          : ["the API server does not respond"];
        reject(new Error(`after ${timeoutMs / 1_000} s:\n${wrong.join("\n")}`));
      }, timeoutMs);
    });
  } finally {
    clearTimeout(timer);
    stop.abort();
    await Promise.all(running);
  }
}
