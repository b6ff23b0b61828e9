/** Which deployments of a Bundle get its content now, and why what is deployed stays in the others. Pure. */
import type { Bundle } from "@flotilla/shared/api";
import type { Placement } from "./place.ts";

/** Why a deployment keeps what it has, most lasting first: nothing reaches a suspended one, and a paused one still gets what is staged. */
export type HoldReason = "suspended" | "paused" | "clusterPaused";

export interface RolloutStep {
  readonly placement: Placement;
  /** Undefined: the content is promoted. */
  readonly hold: HoldReason | undefined;
}

/** A step for each placement, in their order. */
export function planRollout(
  bundle: Bundle,
  placements: readonly Placement[],
): readonly RolloutStep[] {
  return placements.map((placement) => ({ placement, hold: holdOf(bundle, placement) }));
}

function holdOf({ spec }: Bundle, { isSuspended, cluster }: Placement): HoldReason | undefined {
  if (isSuspended) return "suspended";
  if (spec.paused === true) return "paused";
  return cluster.spec.paused === true ? "clusterPaused" : undefined;
}
