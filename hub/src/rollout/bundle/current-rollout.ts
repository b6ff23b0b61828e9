/** What each cluster of a Bundle gets now: by the stages of its rollout, under limits, or everything at once. */
import type { Bundle, Cluster } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import {
  type ContentStore,
  isStaged,
  type RolloutFields,
  toTargetGroup,
} from "../../rules/index.ts";
import type { RolloutReports } from "../stages/rollout-reports.ts";
import type { StagedPlan, StagedRollouts } from "../stages/staged-rollouts.ts";
import type { Deployed } from "./decided-status.ts";
import type { DeploymentWriter } from "./deployment-writer.ts";
import type { ReadValues } from "./hub-values.ts";
import type { ContentPacker, Placement } from "./place.ts";
import { planRollout, type RolloutStep } from "./plan-rollout.ts";
import type { ReachedTargets } from "./reached-targets.ts";
import {
  type JudgedStrategy,
  type LimitedRollout,
  type RolloutLimits,
  rolloutLimits,
} from "./rollout-limits.ts";
import { rolloutSummaryOf } from "./rollout-summary.ts";
import { stagePartitions } from "./stage-partitions.ts";

export interface CurrentRolloutDeps {
  readonly contents: Pick<ContentStore, "ensure">;
  readonly staged: StagedRollouts;
  readonly packer: ContentPacker;
  readonly clusters: Pick<Store<Cluster>, "get">;
  readonly deployments: Pick<DeploymentWriter, "existing" | "in" | "catchUp">;
  /** Whether a status says that a staged rollout was there. */
  readonly wasStaged: (bundle: Bundle) => boolean;
}

/** What decides who gets the contents now. */
export interface RolloutInputs
  extends Omit<LimitedRollout, "existing">,
    Pick<ReachedTargets, "contents" | "approvals" | "isForeign"> {
  readonly values: ReadValues | undefined;
}

/** What a staged rollout has come to. */
export interface StagedSteps {
  readonly steps: readonly RolloutStep[];
  /** It has more to decide. */
  readonly isUnfinished: boolean;
  /** For the author of the Bundle, as sentences. */
  readonly remarks?: readonly string[];
  readonly summary?: Deployed["staged"];
  /** As Fleet shows it. */
  readonly partitions?: RolloutFields;
  /** When time alone changes what it does, ms since 1970. */
  readonly wakesAtMs?: number | undefined;
  /** As for `StagedPlan`. */
  readonly reports?: RolloutReports | undefined;
  readonly promoted?: readonly ObjectKey[];
  readonly conclude?: () => Promise<void>;
}

/** `staged` or `limits`: what holds clusters, if anything does. `remarks`: on the strategy, for the author of the Bundle. */
export interface CurrentRollout {
  readonly rollout: readonly RolloutStep[];
  readonly staged: StagedSteps | undefined;
  readonly limits: RolloutLimits | undefined;
  readonly remarks: readonly string[];
}

export function createCurrentRollout(
  deps: CurrentRolloutDeps,
): (of: RolloutInputs, signal: AbortSignal) => Promise<CurrentRollout> {
  return currentRollout;

  /** What each cluster gets: by stages, under limits, or everything at once. */
  async function currentRollout(of: RolloutInputs, signal: AbortSignal): Promise<CurrentRollout> {
    const { bundle, placements, contents, groups, isOffSchedule } = of;
    const staged = await planStaged(of, signal);
    if (staged !== undefined) {
      const { steps, remarks = [] } = staged;
      return { rollout: steps, staged, limits: undefined, remarks };
    }
    if (deps.wasStaged(bundle)) await deps.staged.end(bundle);
    await Promise.all(contents.map((content) => deps.contents.ensure(content)));
    const judged = await currentLimits({ bundle, placements, groups, isOffSchedule }, signal);
    const { limits, remarks } = judged;
    const rollout = planRollout(bundle, placements, { limits, isOffSchedule });
    return { rollout, staged: undefined, limits, remarks };
  }

  /** What the limits let through. Before anything is promoted under limits the cache has to be current. */
  async function currentLimits(
    of: Omit<LimitedRollout, "existing">,
    signal: AbortSignal,
  ): Promise<JudgedStrategy> {
    const judged = await rolloutLimits({ ...of, existing: deps.deployments.existing(of.bundle) });
    const promotes = judged.limits?.plan.promotes === true;
    return promotes && (await deps.deployments.catchUp(of.bundle, signal))
      ? await currentLimits(of, signal)
      : judged;
  }

  /** Undefined: the strategy has no stages, and everything that is not held is promoted at once. */
  async function planStaged(
    { bundle, placements, groups, isForeign, approvals, values }: RolloutInputs,
    signal: AbortSignal,
  ): Promise<StagedSteps | undefined> {
    const { rolloutStrategy: strategy } = bundle.spec;
    if (!isStaged(strategy)) return undefined;
    const plan = await deps.staged.plan({
      bundle,
      strategy,
      placements,
      existing: () => deps.deployments.existing(bundle),
      groups: groups.map(toTargetGroup),
      needsApproval: approvals.needsApproval,
      pack: (target) => deps.packer.pack(bundle, [target], { isForeign, values }),
      catchUp: () => deps.deployments.catchUp(bundle, signal),
      clusterOf: deps.clusters.get,
      deploymentIn: (cluster) => deps.deployments.in(bundle, cluster),
    });
    if (plan === undefined) return { steps: placements.map(heldStep), isUnfinished: true };
    const { rollout, status, remarks, wakesAtMs, reports, promoted, conclude } = plan;
    return {
      steps: plan.targets.map(stagedStep),
      isUnfinished: false,
      remarks,
      summary: rolloutSummaryOf(rollout, status),
      partitions: stagePartitions(strategy, status),
      wakesAtMs,
      reports,
      promoted,
      conclude,
    };
  }
}

function heldStep(placement: Placement): RolloutStep {
  return { placement, hold: "staged", holdsForce: true };
}

/** The step of one cluster of a staged rollout. */
export function stagedStep({
  placement,
  gets,
  holdsForce,
  isOffSchedule,
}: StagedPlan<Placement>["targets"][number]): RolloutStep {
  if (gets === undefined) return { ...heldStep(placement), holdsForce, isOffSchedule };
  const { promotion, deploymentId, referencedObjects } = gets;
  return {
    placement: { ...placement, deploymentId, referencedObjects },
    hold: undefined,
    holdsForce,
    isOffSchedule,
    promotion,
  };
}
