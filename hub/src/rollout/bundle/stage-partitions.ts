/** The stages of a rollout as Fleet's partitions in the status of a Bundle, for the pages and scripts that read these. Pure. */
import type { BundleStatus, RolloutStrategy } from "@flotilla/shared/api";
import type { BundleRolloutStatus, StageStatus } from "@flotilla/shared/api/rollout";
import { atLeastOne, type RolloutFields, stagesOf } from "../../rules/index.ts";

/**
 * A cluster that was promoted and is not done is unavailable: it is in WaitApplied, or in ErrApplied once it has failed. One whose turn
 * has not come, or that is passed over, is OutOfSync.
 */
export function stagePartitions(
  strategy: RolloutStrategy,
  { stages = [] }: Pick<BundleRolloutStatus, "stages">,
): RolloutFields {
  const partitions = stages.map((stage) => partitionOf(stage, strategy));
  const sum = (field: "count" | "unavailable") =>
    partitions.reduce((all, partition) => all + (partition[field] ?? 0), 0);
  return {
    partitions,
    unavailable: sum("unavailable"),
    maxUnavailable: atLeastOne(strategy.maxUnavailable, sum("count")),
  };
}

function partitionOf(
  { name, total, done, inFlight, failed }: StageStatus,
  strategy: RolloutStrategy,
): NonNullable<BundleStatus["partitions"]>[number] {
  const stage = stagesOf(strategy).find((each) => each.name === name);
  const states = { waitApplied: inFlight, errApplied: failed };
  const outOfSync = total - done - inFlight - failed;
  const present = Object.entries({ ...states, outOfSync }).filter(([, count]) => count > 0);
  return {
    name,
    count: total,
    maxUnavailable: atLeastOne(stage?.maxUnavailable ?? strategy.maxUnavailable, total),
    unavailable: inFlight + failed,
    summary: { desiredReady: total, ready: done, ...Object.fromEntries(present) },
  };
}
