/** What the rollout strategy of a Bundle lets through now, from its placements and what is deployed. It only reads. */
import type { Bundle, BundleDeployment, Cluster, ClusterGroup } from "@flotilla/shared/api";
import { createTimeSlices, type TimeSlices } from "@flotilla/shared/concurrency";
import { presenceOf } from "../../base/index.ts";
import {
  type HoldReason,
  isLimiting,
  isStrategy,
  listedMembers,
  type PartitionPlan,
  partitionsOf,
  planPartitions,
  type RolloutDeployment,
  rolloutRemarks,
  toTargetCluster,
} from "../../rules/index.ts";
import { deploymentsByNamespace, existingFor, isOutlived } from "./existing-deployment.ts";
import { pauseOf } from "./pauses.ts";
import type { Placement } from "./place.ts";

export interface RolloutLimits {
  /** Why each placement is held; absent: it is promoted. */
  readonly holds: ReadonlyMap<Placement, HoldReason>;
  readonly plan: PartitionPlan;
}

/** `limits` undefined: the strategy lets everything through, or there is none. `remarks`: for the author of the Bundle. */
export interface JudgedStrategy {
  readonly limits: RolloutLimits | undefined;
  readonly remarks: readonly string[];
}

export interface LimitedRollout {
  readonly bundle: Bundle;
  readonly placements: readonly Placement[];
  /** Every BundleDeployment that was made for the Bundle. */
  readonly existing: readonly BundleDeployment[];
  readonly groups: readonly ClusterGroup[];
  /** Whether the cluster has Schedules, and none of them is active. */
  readonly isOffSchedule: (cluster: Cluster) => boolean;
}

/** With pauses: clusters times groups may be many. */
export async function rolloutLimits(
  { bundle, placements, existing, groups, isOffSchedule }: LimitedRollout,
  slices: TimeSlices = createTimeSlices(),
): Promise<JudgedStrategy> {
  const { rolloutStrategy: strategy } = bundle.spec;
  if (!isStrategy(strategy)) return { limits: undefined, remarks: [] };
  const sorted = placements.toSorted(byName);
  const clusters = sorted.map(({ cluster }) => toTargetCluster(cluster));
  const listed = await listedMembers(strategy, clusters, groups, slices);
  const partitioned = partitionsOf(strategy, sorted.length, listed);
  const names = clusters.map(({ name }) => name);
  if (!isLimiting(strategy, sorted.length, partitioned))
    return { limits: undefined, remarks: rolloutRemarks(strategy, undefined, { names, listed }) };
  const byNamespace = deploymentsByNamespace(existing);
  const members = sorted.map((placement) => ({
    content: placement.deploymentId,
    deployment: toRolloutDeployment(existingFor(placement, byNamespace), placement),
    pause: pauseOf(bundle, placement, isOffSchedule),
    isOffline: isOutOfReach(placement),
  }));
  const plan = planPartitions(strategy, members, partitioned);
  const holds = new Map<Placement, HoldReason>();
  for (const [position, placement] of sorted.entries()) {
    const hold = plan.holds[position];
    if (hold !== undefined) holds.set(placement, hold);
  }
  return { limits: { holds, plan }, remarks: rolloutRemarks(strategy, plan, { names, listed }) };
}

function byName({ cluster: { metadata: a } }: Placement, { cluster: { metadata: b } }: Placement) {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return (a.namespace ?? "") < (b.namespace ?? "") ? -1 : 1;
}

/** A cluster whose namespace does not exist yet cannot be deployed to either. */
function isOutOfReach({ cluster }: Placement): boolean {
  return presenceOf(cluster) !== "Connected" || cluster.status?.namespace === undefined;
}

function toRolloutDeployment(
  deployment: BundleDeployment | undefined,
  placement: Placement,
): RolloutDeployment | undefined {
  if (deployment === undefined || isOutlived(deployment, placement)) return undefined;
  const { spec, status } = deployment;
  return {
    desired: spec.deploymentID,
    applied: status?.appliedDeploymentID ?? "",
    isReady: status?.ready === true,
  };
}
