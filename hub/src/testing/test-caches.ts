/** The caches of a replica as stores that a test changes itself. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import type { Policy } from "@flotilla/shared/api/policy.ts";
import type { Namespace, Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import { createWatchedStore } from "./watched-store.ts";

export function createTestCaches() {
  return {
    helmOps: createWatchedStore<HelmOp>(),
    bundles: createWatchedStore<Bundle>(),
    deployments: createWatchedStore<BundleDeployment>(),
    clusters: createWatchedStore<Cluster>(),
    groups: createWatchedStore<ClusterGroup>(),
    policies: createWatchedStore<Policy>(),
    tokens: createWatchedStore<ClusterRegistrationToken>(),
    contents: createWatchedStore<Secret>(),
    namespaces: createWatchedStore<Namespace>(),
  };
}
