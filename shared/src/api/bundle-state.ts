/** The one state that stands for a deployment, which the hub counts and what depends on it waits for. Pure; the order is Fleet's. */
import type { BundleState } from "./summary.ts";

export interface DeploymentObservation {
  /** Whether what is wanted is what was carried out. */
  readonly isApplied: boolean;
  /** Whether carrying it out has failed. */
  readonly hasFailed: boolean;
  readonly isReady: boolean;
  /** Whether something newer waits until it is let through. */
  readonly isHeldBack: boolean;
  /** Whether somebody changed what was installed. */
  readonly isModified: boolean;
}

export function bundleStateOf(facts: DeploymentObservation): BundleState {
  if (!facts.isApplied) return facts.hasFailed ? "ErrApplied" : "WaitApplied";
  if (!facts.isReady) return "NotReady";
  if (facts.isHeldBack) return "OutOfSync";
  return facts.isModified ? "Modified" : "Ready";
}
