/** Indexes of the hub's informers. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { defineIndex } from "@flotilla/shared/kube/cache/object-index.ts";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import { bundleKeyOf, contentDigestOf } from "./keys.ts";

/** BundleDeployments by the key of their Bundle. */
export const byBundle = defineIndex<BundleDeployment>("bundle", (deployment) => [
  bundleKeyOf(deployment),
]);

/** BundleDeployments by the contents that they refer to. */
export const byContent = defineIndex<BundleDeployment>("content", contentsReferredBy);

/** Secrets by the digest of the content that they store. */
export const byDigest = defineIndex<Secret>("digest", (secret) => [contentDigestOf(secret) ?? ""]);

/** BundleDeployments by the key of an object that they refer to, in any workspace. */
export const bySupply = defineIndex<BundleDeployment>("supply", suppliesNamedBy);

/** Clusters recorded as connected, by the replica that serves their agent. */
export const byReplica = defineIndex<Cluster>("replica", ({ status }) =>
  status?.agent?.connected === true ? [status.agent.replica ?? ""] : [],
);

/** The contents that a BundleDeployment refers to: the one it runs, the staged one, and the one still installed. */
export function contentsReferredBy({ spec, status }: BundleDeployment): readonly string[] {
  return [
    ...new Set([spec.deploymentID, spec.stagedDeploymentID, status?.appliedDeploymentID ?? ""]),
  ].filter((id) => id !== "");
}

export function suppliesNamedBy({ spec }: BundleDeployment): readonly string[] {
  return spec.referencedObjects ?? [];
}
