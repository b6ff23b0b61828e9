/** Which deployments of a Bundle get its content now, and why what is deployed stays in the others. Pure. */
import type { Bundle, Cluster, Promotion } from "@flotilla/shared/api";
import type { HoldReason } from "../../rules/index.ts";
import { pauseOf } from "./pauses.ts";
import type { Placement } from "./place.ts";
import type { RolloutLimits } from "./rollout-limits.ts";

export interface RolloutStep {
  readonly placement: Placement;
  /** Undefined: the content is promoted. */
  readonly hold: HoldReason | undefined;
  /** A request to force waits for its turn, so that not all clusters are upgraded at once. */
  readonly holdsForce?: boolean;
  /** No window permits to try again what is in flight; absent: as it is, in a staged rollout. */
  readonly isOffSchedule?: boolean;
  /** By which staged rollout the content was promoted. */
  readonly promotion?: Promotion | undefined;
}

/**
 * A step for each placement, in their order. `limits`: what the rollout strategy lets through; absent: everything. `isOffSchedule`:
 * the cluster has Schedules, and none of them is active; the limits know it.
 */
export function planRollout(
  bundle: Bundle,
  placements: readonly Placement[],
  {
    limits,
    isOffSchedule,
  }: {
    readonly limits?: Pick<RolloutLimits, "holds"> | undefined;
    readonly isOffSchedule: (cluster: Cluster) => boolean;
  },
): readonly RolloutStep[] {
  return placements.map((placement) => ({
    placement,
    hold:
      limits === undefined
        ? pauseOf(bundle, placement, isOffSchedule)
        : limits.holds.get(placement),
  }));
}
