/** The state of a BundleDeployment, from what is desired and what its agent reported. Pure. */

import { type BundleDeployment, type BundleState, bundleStateOf } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { fluxReason } from "@flotilla/shared/flux/reasons";

export function stateOf(deployment: BundleDeployment): BundleState {
  const { spec, status } = deployment;
  return bundleStateOf({
    isApplied: status?.appliedDeploymentID === spec.deploymentID,
    hasFailed:
      findCondition(status?.conditions, "Deployed")?.status === "False" &&
      isAboutDesired(deployment),
    isReady: status?.ready === true,
    isHeldBack: spec.deploymentID !== spec.stagedDeploymentID,
    isModified: status?.nonModified === false,
  });
}

/**
 * The state that counts while its cluster is offline. Ready and pending changes are kept as of then; everything else is
 * unknown, and nothing fails because a cluster is offline.
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

/**
 * Whether the conditions are about the desired content, or about an uninstallation. An agent that has not seen the desired
 * one has reported an earlier one.
 */
export function isAboutDesired({ spec, status }: BundleDeployment): boolean {
  const { appliedDeploymentID, attemptedDeploymentID, conditions } = status ?? {};
  // Without the content of an attempt they are about what is applied. Hubs before 0.2 do not name the content that could not
  // be deployed, and an uninstallation is of any content.
  const isOfAttempt =
    findCondition(conditions, "Deployed")?.status === "False" ||
    findCondition(conditions, "Ready")?.reason === "ErrUninstall";
  const reported = attemptedDeploymentID ?? (isOfAttempt ? undefined : appliedDeploymentID);
  return reported === undefined || reported === spec.deploymentID;
}

/** Its message for people; "" when there is none, or when it is about an earlier content. */
export function deploymentMessage(deployment: BundleDeployment): string {
  if (!isAboutDesired(deployment)) return "";
  const conditions = deployment.status?.conditions;
  for (const type of ["Deployed", "Installed", "Monitored", "Ready"]) {
    const condition = findCondition(conditions, type);
    if (condition?.status === "False" && condition.message) return condition.message;
  }
  return "";
}
/** The reason of Deployed when the pinned chart could not be fetched, so that the source is read again. */

export const chartNotFetched = "ChartNotFetched";
/** The same when what was fetched is not a chart, or the chart cannot be made from it. */
export const artifactFailed = fluxReason.artifactFailed;
/** The same when its values cannot be made, from what they reference. */
export const valuesError = fluxReason.valuesError;
