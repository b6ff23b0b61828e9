/** The one state of a BundleDeployment, from what is wanted and what its agent reported. Pure; the order is Fleet's. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { BundleState } from "@flotilla/shared/api/summary.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";

export function stateOf(deployment: BundleDeployment): BundleState {
  const { spec, status } = deployment;
  if (status?.appliedDeploymentID !== spec.deploymentID) {
    return findCondition(status?.conditions, "Deployed")?.status === "False"
      ? "ErrApplied"
      : "WaitApplied";
  }
  if (status.ready !== true) return "NotReady";
  if (spec.deploymentID !== spec.stagedDeploymentID) return "OutOfSync";
  return status.nonModified === false ? "Modified" : "Ready";
}

/** What a person is told of it; "" when there is nothing to say. */
export function messageOfDeployment(deployment: BundleDeployment): string {
  const conditions = deployment.status?.conditions;
  for (const type of ["Deployed", "Installed", "Monitored", "Ready"]) {
    const condition = findCondition(conditions, type);
    if (condition?.status === "False" && condition.message) return condition.message;
  }
  return "";
}
