/**
 * BundleDeployments on their way out. One stays until its agent has uninstalled what it installed; one of a cluster
 * whose agent never came, or that is no longer a member, has nobody to wait for.
 */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { bundleDeploymentFinalizer } from "@flotilla/shared/api/names.ts";
import { bundleDeployments } from "@flotilla/shared/api/resources.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isConflict, isNotFound } from "@flotilla/shared/kube/client/status-error.ts";
import type { Reconcile } from "@flotilla/shared/kube/controller/reconcile.ts";
import { done } from "@flotilla/shared/kube/controller/reconcile.ts";
import { clusterKeyOf, isForCluster } from "../cache/keys.ts";

/** Whether nobody has to confirm that the deployment is gone. Pure. */
export function needsNoConfirmation(
  deployment: BundleDeployment,
  cluster: Cluster | undefined,
): boolean {
  if (deployment.metadata.deletionTimestamp === undefined) return false;
  return (
    cluster?.status?.agent?.epoch === undefined || !isForCluster(deployment, cluster.metadata.uid)
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

/** Lets a BundleDeployment go for good. */
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
    // Gone already, or another one by now: either way this one is released.
    if (!isNotFound(thrown) && !isConflict(thrown)) throw thrown;
  }
}
