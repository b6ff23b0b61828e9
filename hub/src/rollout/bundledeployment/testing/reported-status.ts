/** The status that a report gives a deployment. */
import type { DeploymentState } from "@flotilla/proto";
import type { BundleDeployment, BundleDeploymentStatus } from "@flotilla/shared/api";
import { aDeployment, now } from "../../../testing/index.ts";
import { deploymentStatus } from "../status.ts";

/** The place of the report in the agent's stream. */
export const place = { epoch: 2, sequence: 5 };

/** `status`, `spec`: of the deployment `web` of the cluster `paris` before the report. */
export function statusOf(
  state: DeploymentState,
  status?: BundleDeploymentStatus,
  spec: Partial<BundleDeployment["spec"]> = {},
): BundleDeploymentStatus {
  return deploymentStatus(aDeployment("paris", { status, spec }), { ...place, state }, now);
}
