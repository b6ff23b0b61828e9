/** Indexes of the hub's informers. */
import {
  type Bundle,
  type BundleDeployment,
  type Cluster,
  isManagedElsewhere,
} from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { defineIndex, type Index } from "@flotilla/shared/kube/cache";
import { keyOf, type Secret } from "@flotilla/shared/kube/objects";
import { parseUsed, type UsedObjects } from "@flotilla/shared/referenced";
import { bundleKeyOf, contentDigestOf, targetedNamespace } from "./keys.ts";

/** BundleDeployments by the key of their Bundle. */
export const byBundle: Index<BundleDeployment> = defineIndex("bundle", (deployment) => [
  bundleKeyOf(deployment),
]);

/** BundleDeployments whose agent has reported what it received of a bucket, by the key of their Bundle. */
export const bySourceReport: Index<BundleDeployment> = defineIndex("source report", (deployment) =>
  deployment.status?.source == null ? [] : [bundleKeyOf(deployment)],
);

/** Bundles by the namespace of the Clusters that they may be deployed to. */
export const byClusterNamespace: Index<Bundle> = defineIndex("cluster namespace", (bundle) => [
  targetedNamespace(bundle),
]);

/** Bundles with a rollout strategy, by the namespace of the Clusters that they may be deployed to. */
export const byRolloutNamespace: Index<Bundle> = defineIndex("rollout namespace", (bundle) =>
  Object.keys(bundle.spec.rolloutStrategy ?? {}).length > 0 ? [targetedNamespace(bundle)] : [],
);

/** Bundles by the key of the RolloutPolicy that they name. */
export const byRolloutPolicy: Index<Bundle> = defineIndex(
  "rollout policy",
  ({ metadata: { namespace = "" }, spec }) => {
    const name = spec.rolloutStrategy?.policy;
    return name ? [keyOf({ namespace, name })] : [];
  },
);

/** Bundles that may have gates for the rollouts of others, by their namespace. What a RolloutPolicy has is not known here. */
export const byAwaiting: Index<Bundle> = defineIndex(
  "awaiting",
  ({ metadata: { namespace = "" }, spec: { rolloutStrategy: strategy } }) =>
    strategy?.policy || awaitsRollouts(strategy) ? [namespace] : [],
);

/** Whether a gate of a strategy waits for the rollout of another app. */
export function awaitsRollouts(strategy: Bundle["spec"]["rolloutStrategy"]): boolean {
  return (strategy?.stages ?? []).some(({ before = [], after = [] }) =>
    [...before, ...after].some(({ rollout }) => rollout !== undefined),
  );
}

/** BundleDeployments by the contents that they refer to. */
export const byContent: Index<BundleDeployment> = defineIndex("content", contentsReferredBy);

/** Secrets by the digest of the content that they store. */
export const byDigest: Index<Secret> = defineIndex("digest", (secret) => [
  contentDigestOf(secret) ?? "",
]);

/** BundleDeployments by the key of an object that they refer to, in any workspace. */
export const byReferencedObject: Index<BundleDeployment> = defineIndex(
  "referenced object",
  referencedObjectsOf,
);

/** Clusters recorded as connected, by the replica that serves their agent. */
export const byReplica: Index<Cluster> = defineIndex("replica", ({ status }) =>
  status?.agent?.connected === true ? [status.agent.replica ?? ""] : [],
);

/** The value of `byManagement`. */
export const managedElsewhere = "elsewhere";

/** Clusters that another system manages, under one value. */
export const byManagement: Index<Cluster> = defineIndex("management", (cluster) =>
  isManagedElsewhere(cluster) ? [managedElsewhere] : [],
);

/**
 * The contents that a BundleDeployment refers to: the one it runs, the staged one, the one still installed, and the one that a
 * rollback gives back to it.
 */
export function contentsReferredBy({ spec, status }: BundleDeployment): readonly string[] {
  const { deploymentID, stagedDeploymentID, promotion } = spec;
  const others = [status?.appliedDeploymentID ?? "", promotion?.from ?? ""];
  return [...new Set([deploymentID, stagedDeploymentID, ...others])].filter((id) => id !== "");
}

/** BundleRollouts by the key of their Bundle. */
export const byRolledOutBundle: Index<BundleRollout> = defineIndex(
  "rolled out bundle",
  ({ metadata, spec }) => [keyOf({ namespace: metadata.namespace ?? "", name: spec.bundle.name })],
);

/** BundleRollouts by the contents that they pin. */
export const byPinnedContent: Index<BundleRollout> = defineIndex(
  "pinned content",
  contentsPinnedBy,
);

/** Phases in which no cluster gets what a BundleRollout pins. */
const unpinned: ReadonlySet<string> = new Set(["RolledBack", "Superseded", "Cancelled"]);

/** The contents that clusters may still get by a BundleRollout: those that join one that is completed, too. */
export function contentsPinnedBy({ spec, status }: BundleRollout): readonly string[] {
  if (unpinned.has(status?.phase ?? "")) return [];
  return [...new Set(spec.targets.flatMap(({ deploymentID }) => deploymentID ?? []))];
}

// Objects of a store are replaced, never changed, and a change of one object asks about all deployments of a cluster.
const usedObjects = new WeakMap<BundleDeployment["spec"], UsedObjects>();

/** What a BundleDeployment uses of the objects that it refers to. */
export function usedObjectsOf({ spec }: BundleDeployment): UsedObjects {
  const known = usedObjects.get(spec) ?? parseUsed(spec.referencedObjects ?? []);
  usedObjects.set(spec, known);
  return known;
}

/** The objects that a BundleDeployment refers to. */
export function referencedObjectsOf(deployment: BundleDeployment): readonly string[] {
  return [...usedObjectsOf(deployment).keys()];
}
