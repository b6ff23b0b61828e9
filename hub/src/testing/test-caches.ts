/** The caches of a replica as stores that a test changes itself. */
import type {
  Bundle,
  BundleDeployment,
  BundleNamespaceMapping,
  Cluster,
  ClusterGroup,
  ClusterRegistrationToken,
  HelmOp,
  Policy,
  Schedule,
} from "@flotilla/shared/api";
import type { BundleRollout, Gate, RolloutPolicy } from "@flotilla/shared/api/rollout";
import type { KubeObject, Namespace, Secret } from "@flotilla/shared/kube/objects";
import { createWatchedStore } from "./watched-store.ts";

export function createTestCaches() {
  return {
    helmOps: createWatchedStore<HelmOp>(),
    bundles: createWatchedStore<Bundle>(),
    deployments: createWatchedStore<BundleDeployment>(),
    clusters: createWatchedStore<Cluster>(),
    groups: createWatchedStore<ClusterGroup>(),
    policies: createWatchedStore<Policy>(),
    schedules: createWatchedStore<Schedule>(),
    mappings: createWatchedStore<BundleNamespaceMapping>(),
    workspaces: createWatchedStore<KubeObject>(),
    rollouts: createWatchedStore<BundleRollout>(),
    gates: createWatchedStore<Gate>(),
    rolloutPolicies: createWatchedStore<RolloutPolicy>(),
    tokens: createWatchedStore<ClusterRegistrationToken>(),
    contents: createWatchedStore<Secret>(),
    namespaces: createWatchedStore<Namespace>(),
  };
}
