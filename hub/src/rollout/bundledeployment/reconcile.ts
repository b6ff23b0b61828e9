/**
 * BundleDeployments that are being deleted: tombstones. One stays until its agent has confirmed that its release is
 * uninstalled; one of a removed cluster, or of a cluster whose agent never connected, is released at once.
 */
import {
  type BundleDeployment,
  bundleDeployments,
  type Cluster,
  isManagedElsewhere,
} from "@flotilla/shared/api";
import { bundleDeploymentFinalizer } from "@flotilla/shared/api/names";
import type { Store } from "@flotilla/shared/kube/cache";
import { isConflict, isNotFound, type KubeRest } from "@flotilla/shared/kube/client";
import { done, type Reconcile } from "@flotilla/shared/kube/controller";
import { clusterKeyOf, clusterNamespaceOf, isForCluster } from "../../base/index.ts";

/** Whether no agent has to confirm that the release is uninstalled. Pure. */
export function needsNoConfirmation(
  deployment: BundleDeployment,
  cluster: Cluster | undefined,
): boolean {
  if (deployment.metadata.deletionTimestamp === undefined) return false;
  if (cluster !== undefined && isManagedElsewhere(cluster)) return false;
  return (
    cluster?.status?.agent?.epoch === undefined ||
    !isForCluster(deployment, cluster.metadata.uid) ||
    // The Cluster has left this namespace for another one: its agent gets nothing from here.
    (cluster.status.namespace !== undefined &&
      deployment.metadata.namespace !== clusterNamespaceOf(cluster))
  );
}

export interface TombstoneDeps {
  readonly rest: KubeRest;
  readonly deployments: Store<BundleDeployment>;
  readonly clusters: Store<Cluster>;
}

export function tombstoneReconciler(deps: TombstoneDeps): Reconcile {
  return async function reconcile(key, { signal }) {
    const deployment = deps.deployments.get(key);
    if (
      deployment !== undefined &&
      needsNoConfirmation(deployment, deps.clusters.get(clusterKeyOf(deployment)))
    ) {
      await release(deps.rest, deployment, signal);
    }
    return done();
  };
}

/** Removes the finalizer of a BundleDeployment. */
export async function release(
  rest: KubeRest,
  deployment: BundleDeployment,
  signal?: AbortSignal,
): Promise<void> {
  const finalizers = (deployment.metadata.finalizers ?? []).filter(
    (name) => name !== bundleDeploymentFinalizer,
  );
  const body = { metadata: { uid: deployment.metadata.uid, finalizers } };
  try {
    await rest.patch(
      bundleDeployments,
      deployment.metadata,
      { type: "merge", body },
      { ...(signal !== undefined && { signal }) },
    );
  } catch (thrown) {
    // Deleted, or another object has the name now: this one is released in both cases.
    if (!isNotFound(thrown) && !isConflict(thrown)) throw thrown;
  }
}
