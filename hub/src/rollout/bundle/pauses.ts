/** What people pause and suspend of a Bundle: why that holds a placement, and what its agent is sent. Pure. */
import type { Bundle, BundleDeployment, Cluster } from "@flotilla/shared/api";
import type { PauseReason } from "../../rules/index.ts";
import type { Placement } from "./place.ts";

/** Why people hold a placement: the most lasting reason. */
export function pauseOf(
  bundle: Bundle,
  { isSuspended, cluster }: Placement,
  isOffSchedule: (cluster: Cluster) => boolean,
): PauseReason | undefined {
  if (isSuspended) return "suspended";
  return (
    pausedBy(bundle, isPaused(cluster)) ?? (isOffSchedule(cluster) ? "offSchedule" : undefined)
  );
}

/** The fields of a BundleDeployment that pause and suspend it, absent where they do not: it may be both. */
export function pauseFields(
  bundle: Bundle,
  { isSuspended, isClusterPaused }: Pauses,
): Pick<BundleDeployment["spec"], "paused" | "suspend"> {
  return {
    ...(pausedBy(bundle, isClusterPaused) !== undefined && { paused: true }),
    ...(isSuspended && { suspend: true }),
  };
}

/** What else than `paused` of the Bundle counts. */
interface Pauses {
  /** The Bundle or its target is. */
  readonly isSuspended: boolean;
  readonly isClusterPaused: boolean;
}

export function isPaused({ spec }: Cluster): boolean {
  return spec.paused === true;
}

function pausedBy(
  { spec }: Bundle,
  isClusterPaused: boolean,
): Extract<PauseReason, "paused" | "clusterPaused"> | undefined {
  if (spec.paused === true) return "paused";
  return isClusterPaused ? "clusterPaused" : undefined;
}
