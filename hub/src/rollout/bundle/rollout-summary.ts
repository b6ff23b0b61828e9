/** A staged rollout as the status of its Bundle shows it. Pure. */
import type { RolloutSummary } from "@flotilla/shared/api";
import type { BundleRollout, BundleRolloutStatus } from "@flotilla/shared/api/rollout";

export function rolloutSummaryOf(
  { metadata }: Pick<BundleRollout, "metadata">,
  { phase, stage, clusters, message, since }: BundleRolloutStatus,
): RolloutSummary {
  return {
    name: metadata.name,
    phase,
    ...(stage !== undefined && { stage }),
    done: clusters?.done ?? 0,
    total: clusters?.total ?? 0,
    ...(message !== undefined && { message }),
    ...(since !== undefined && { since }),
  };
}
