/** The objects of a hub, as its watches deliver them. */
import {
  type BundleDeployment,
  bundleDeployments,
  type Cluster,
  clusters,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import { type HelmRelease, helmReleases } from "@flotilla/shared/flux";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";

export interface WatchedObjects {
  readonly helmOps: Informer<HelmOp>;
  readonly helmReleases: Informer<HelmRelease>;
  readonly deployments: Informer<BundleDeployment>;
  readonly clusters: Informer<Cluster>;
  close(): Promise<void>;
}

/** Resolves when all that there is has been listed. */
export async function watchObjects(rest: KubeRest): Promise<WatchedObjects> {
  const stop = new AbortController();
  const watches: Promise<void>[] = [];
  async function watch<T extends KubeObject>(resource: Resource<T>): Promise<Informer<T>> {
    const informer = createInformer<T>({ rest, resource, log: silentLog() });
    watches.push(informer.run(stop.signal));
    await informer.synced;
    return informer;
  }
  const [ops, releases, deployments, members] = await Promise.all([
    watch(helmOps),
    watch(helmReleases),
    watch(bundleDeployments),
    watch(clusters),
  ]);
  return {
    helmOps: ops,
    helmReleases: releases,
    deployments,
    clusters: members,
    async close() {
      stop.abort();
      await Promise.all(watches);
    },
  };
}
