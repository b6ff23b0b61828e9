/** The caches that the dashboard shows, which a test changes itself. */
import type {
  Bundle,
  BundleDeployment,
  BundleNamespaceMapping,
  Cluster,
  ClusterGroup,
  HelmOp,
  Schedule,
} from "@flotilla/shared/api";
import type { BundleRollout, Gate, RolloutPolicy } from "@flotilla/shared/api/rollout";
import type { HelmRelease } from "@flotilla/shared/flux";
import type { Event, KubeObject } from "@flotilla/shared/kube/objects";
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
    rollouts: createWatchedStore<BundleRollout>(),
    gates: createWatchedStore<Gate>(),
    rolloutPolicies: createWatchedStore<RolloutPolicy>(),
    schedules: createWatchedStore<Schedule>(),
    mappings: createWatchedStore<BundleNamespaceMapping>(),
    workspaces: createWatchedStore<KubeObject>(),
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
