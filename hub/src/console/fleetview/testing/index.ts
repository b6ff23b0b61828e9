/** The caches that the dashboard shows, which a test changes itself. */
import type { Bundle, BundleDeployment, Cluster, ClusterGroup, HelmOp } from "@flotilla/shared/api";
import type { HelmRelease } from "@flotilla/shared/flux";
import type { Event } from "@flotilla/shared/kube/objects";
import { createWatchedStore } from "../../../testing/index.ts";
import type { AnySource } from "../source-of.ts";

export function createShownCaches() {
  const helmOps = createWatchedStore<HelmOp>();
  const helmReleases = createWatchedStore<HelmRelease>();
  const bundles = createWatchedStore<Bundle>();
  return {
    helmOps,
    helmReleases,
    bundles,
    apps: { HelmOp: helmOps, HelmRelease: helmReleases, Bundle: bundles },
    deployments: createWatchedStore<BundleDeployment>(),
    clusters: createWatchedStore<Cluster>(),
    groups: createWatchedStore<ClusterGroup>(),
    events: createWatchedStore<Event>(),
    sources: {
      HelmRepository: createWatchedStore<AnySource>(),
      OCIRepository: createWatchedStore<AnySource>(),
      GitRepository: createWatchedStore<AnySource>(),
      Bucket: createWatchedStore<AnySource>(),
      HelmChart: createWatchedStore<AnySource>(),
    },
  };
}
