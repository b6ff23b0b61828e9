/** The one state of a BundleDeployment, from what is wanted and what its agent reported. Pure. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { type BundleState, bundleStateOf } from "@flotilla/shared/api/summary.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";

export function stateOf({ spec, status }: BundleDeployment): BundleState {
  return bundleStateOf({
    isApplied: status?.appliedDeploymentID === spec.deploymentID,
    hasFailed: findCondition(status?.conditions, "Deployed")?.status === "False",
    isReady: status?.ready === true,
    isHeldBack: spec.deploymentID !== spec.stagedDeploymentID,
    isModified: status?.nonModified === false,
  });
}

/**
 * What it counts as where nothing is heard of its cluster. What was ready with what is wanted now is so as of then, and
 * what the hub holds back is its own doing; nobody knows of anything else, and nothing fails because a cluster sleeps.
 */
export function stateWhileOffline(state: BundleState): BundleState {
  switch (state) {
    case "Ready":
    case "OutOfSync":
    case "Pending":
      return state;
    default:
      return "Offline";
  }
}

/** What a person is told of it; "" when there is nothing to say. */
export function deploymentMessage(deployment: BundleDeployment): string {
  const conditions = deployment.status?.conditions;
  for (const type of ["Deployed", "Installed", "Monitored", "Ready"]) {
    const condition = findCondition(conditions, type);
    if (condition?.status === "False" && condition.message) return condition.message;
  }
  return "";
}
/** The reason of Deployed where the chart could not be fetched as it was pinned, so that the pin is in doubt. */

export const chartNotFetched = "ChartNotFetched";
