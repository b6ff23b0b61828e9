/** Why a deployment keeps what it has. Pure. */

/** Reasons that people decide, most lasting first: nothing reaches a suspended one, and a paused one still gets what is staged. */
export type PauseReason = "suspended" | "paused" | "clusterPaused" | "offSchedule";

/** Reasons of a rollout strategy. A cluster that has no deployment yet gets none while one of these holds it. */
export type LimitReason =
  /** None of the listed partitions takes the cluster: what is staged stays, too. */
  | "unassigned"
  /** Its agent is not connected, and nothing is in flight there. */
  | "offline"
  /** Earlier partitions are not completed. */
  | "earlierPartition"
  /** As many clusters are installed for the first time as `maxNew` allows. */
  | "maxNew"
  /** As many clusters of its partition, or of the Bundle, are unavailable as `maxUnavailable` allows. */
  | "maxUnavailable";

/** `staged`: its staged rollout has not promoted it; nothing of what it has is changed, and its BundleRollout says why. */
export type HoldReason = PauseReason | LimitReason | "staged";

export function isLimitReason(hold: HoldReason | undefined): hold is LimitReason {
  switch (hold) {
    case undefined:
    case "suspended":
    case "paused":
    case "clusterPaused":
    case "offSchedule":
    case "staged":
      return false;
    case "unassigned":
    case "offline":
    case "earlierPartition":
    case "maxNew":
    case "maxUnavailable":
      return true;
  }
}
