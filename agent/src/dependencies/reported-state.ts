/** The state of a deployment of this agent's own, by the rule that the hub counts by. Pure. */
import type { DeploymentState } from "@flotilla/proto/messages.ts";
import { type BundleState, bundleStateOf } from "@flotilla/shared/api/summary.ts";

/** `wantedId`: the content that it is to run now. What waits behind a rollout is not known here. */
export function reportedState(state: DeploymentState, wantedId: string): BundleState {
  return bundleStateOf({
    isApplied: state.phase === "deployed" && state.deploymentId === wantedId,
    hasFailed: state.phase === "failed",
    isReady: state.ready,
    isHeldBack: false,
    isModified: false,
  });
}
