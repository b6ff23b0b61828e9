/** The state of a deployment that the hub counts and that dependencies wait for. Pure; the precedence is Fleet's. */
import type { BundleState } from "./summary.ts";

export interface DeploymentObservation {
  /** The desired content is the applied one. */
  readonly isApplied: boolean;
  /** The last attempt to apply it failed. */
  readonly hasFailed: boolean;
  readonly isReady: boolean;
  /** A newer content waits behind the rollout. */
  readonly isHeldBack: boolean;
  /** An installed object was changed by somebody else. */
  readonly isModified: boolean;
}

export function bundleStateOf(observed: DeploymentObservation): BundleState {
  if (!observed.isApplied) return observed.hasFailed ? "ErrApplied" : "WaitApplied";
  if (!observed.isReady) return "NotReady";
  if (observed.isHeldBack) return "OutOfSync";
  return observed.isModified ? "Modified" : "Ready";
}
