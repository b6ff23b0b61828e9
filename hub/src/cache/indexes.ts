/** Indexes of the hub's informers. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { Indexers } from "@flotilla/shared/kube/store.ts";

/** BundleDeployments by the key of their Bundle. */
export const byBundle = "bundle";

/** Any namespaced kind by its namespace. */
export const byNamespace = "namespace";

/** BundleDeployments by the contents that they refer to; Secrets by the content that they store. */
export const byContent = "content";

/** Clusters recorded as connected, by the replica that serves their agent. */
export const byReplica = "replica";

/** BundleDeployments by the key of an object that they refer to, in any workspace. */
export const bySupply = "supply";

/** The contents that a BundleDeployment refers to: the one it runs, the staged one, and the one still installed. */
export function contentsNamedBy({ spec, status }: BundleDeployment): readonly string[] {
  return [
    ...new Set([spec.deploymentID, spec.stagedDeploymentID, status?.appliedDeploymentID ?? ""]),
  ].filter((id) => id !== "");
}

export function suppliesNamedBy({ spec }: BundleDeployment): readonly string[] {
  return spec.supplies ?? [];
}

export const replicaIndexers: Indexers<Cluster> = {
  [byReplica]: ({ status }) =>
    status?.agent?.connected === true ? [status.agent.replica ?? ""] : [],
};

export const supplyIndexers: Indexers<BundleDeployment> = { [bySupply]: suppliesNamedBy };
