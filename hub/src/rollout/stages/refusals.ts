/**
 * Promotions that an agent has refused: it has planned once more right before Helm ran, and something else would have changed than was
 * approved. Such a promotion is taken back, and the cluster is planned again. Pure.
 */
import type { BundleDeployment, Promotion } from "@flotilla/shared/api";
import { formatTimeMs, parseTime } from "@flotilla/shared/time";

/** Whether what is promoted in a deployment was refused. What was applied in spite of that stays. */
export function isRefused({ spec, status }: BundleDeployment): boolean {
  const { promotion, deploymentID } = spec;
  return (
    promotion?.planned !== undefined &&
    status?.refusedAt === promotion.at &&
    status.appliedDeploymentID !== deploymentID
  );
}

/** How often its agent has refused what its rollout promoted. A plan from before the last time does not fit any more. */
export function refusalsOf(deployment: BundleDeployment): number {
  return (deployment.spec.promotion?.refused ?? 0) + (isRefused(deployment) ? 1 : 0);
}

/** `promotion`: what was refused. What the cluster had before, it gets back. */
export function takenBack(
  { rollout, wasReady, refused = 0 }: Promotion,
  content: string,
  nowMs: number,
): Promotion {
  return {
    rollout,
    at: formatTimeMs(nowMs),
    from: content,
    ...(wasReady !== undefined && { wasReady }),
    refused: refused + 1,
  };
}

const firstWaitMs = 60_000;
const longestWaitMs = 15 * 60_000;

/**
 * When a cluster is planned again whose promotion was taken back, ms since 1970; undefined: at once. What changes with each plan, such as
 * an object that two controllers fight over, is promoted and refused ever more rarely.
 */
export function plannedAgainAt(promotion: Promotion | undefined): number | undefined {
  const { refused = 0, planned, at } = promotion ?? {};
  if (refused < 2 || planned !== undefined) return undefined;
  const waitMs = Math.min(firstWaitMs * 2 ** (refused - 2), longestWaitMs);
  return (parseTime(at) ?? 0) + waitMs;
}
