/** What the clusters have that a rollout promoted, as the API server has it. */
import { bundleDeployments, deploymentSelector } from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { isForbidden, type KubeRest } from "@flotilla/shared/kube/client";
import type { AppRef } from "./find-rollouts.ts";
import { type PromotedClusters, promotedClusters } from "./rollout-words.ts";

/** Undefined for a user who may change rollouts, and not read deployments. */
export async function readPromoted(
  rest: KubeRest,
  app: AppRef,
  rollout: BundleRollout,
): Promise<PromotedClusters | undefined> {
  try {
    const labelSelector = deploymentSelector(app.kind, app);
    const { items } = await rest.list(bundleDeployments, { labelSelector });
    return promotedClusters(items, rollout);
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    return undefined;
  }
}
