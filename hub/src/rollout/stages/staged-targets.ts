/** What each target cluster gets in one pass of a staged rollout, from what its step promotes. It only reads. */
import type { Cluster, Promotion, RolloutStrategy } from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { createTimeSlices } from "@flotilla/shared/concurrency";
import { unpackContent } from "@flotilla/shared/content";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { formatUsed, usedBy } from "@flotilla/shared/referenced";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { type ContentStore, stagesOf, type TargetGroup } from "../../rules/index.ts";
import { isStageApproved } from "./approvals.ts";
import { completedOf } from "./choose-rollout.ts";
import { timeOfStep } from "./decisions.ts";
import { hasRevision, type Member } from "./member.ts";
import { type PinnedContent, pinnedContents } from "./pinned-contents.ts";
import { takenBack } from "./refusals.ts";
import type { Promoted, StepResult } from "./staged-step.ts";

/** A target cluster of a Bundle, with the content that its spec has for it now. */
export interface StagedPlacement {
  readonly cluster: Cluster;
  /** The key of the Cluster. */
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly deploymentId: string;
  readonly referencedObjects: readonly string[];
  readonly isSuspended: boolean;
}

/** What one cluster gets. */
export interface StagedTarget<P> {
  readonly placement: P;
  /** Undefined: it keeps what it has, and gets nothing where it has nothing. */
  readonly gets: (PinnedContent & { readonly promotion: Promotion | undefined }) | undefined;
  /** Its request to force waits for its turn. */
  readonly holdsForce: boolean;
  /** What it has in flight is not tried again until a window opens. */
  readonly isOffSchedule: boolean;
}

/** One pass: what there is, and what its step decided. */
export interface StagedPass<P> {
  readonly placements: readonly P[];
  readonly groups: readonly TargetGroup[];
  readonly strategy: RolloutStrategy;
  readonly rollout: BundleRollout;
  /** All of the Bundle. */
  readonly rollouts: readonly BundleRollout[];
  /** The content of the revision for each target cluster. */
  readonly contents: ReadonlyMap<ObjectKey, PinnedContent>;
  readonly members: readonly Member[];
  /** By key: the stage of a member. */
  readonly assignment: ReadonlyMap<string, string>;
  readonly result: StepResult;
}

interface ReadingPass extends StagedPass<unknown> {
  readonly nowMs: number;
  /** The objects that a stored content refers to: a BundleDeployment names only the objects of what it runs. */
  readonly referencesOf: (deploymentId: string) => Promise<readonly string[]>;
}

/** What is known of one cluster, as for `StagedPass`. */
interface OneTarget {
  readonly promotion: Promoted | undefined;
  readonly member: Member | undefined;
  readonly content: PinnedContent | undefined;
  /** The content of the revision before. */
  readonly fallback: PinnedContent | undefined;
  readonly isOffSchedule: boolean;
}

export interface StagedTargets {
  /** One for each placement, in their order. */
  of<P extends StagedPlacement>(pass: StagedPass<P>): Promise<readonly StagedTarget<P>[]>;
}

export function createStagedTargets({
  clock,
  contents: stored,
}: {
  readonly clock: Pick<Clock, "now">;
  readonly contents: Pick<ContentStore, "read">;
}): StagedTargets {
  return {
    async of<P extends StagedPlacement>(of: StagedPass<P>) {
      const { contents, members, result } = of;
      const nowMs = timeOfStep(result.status, clock.now());
      const pass: ReadingPass = { ...of, nowMs, referencesOf: references(of.rollouts) };
      const promoted = new Map(result.promotions.map((each) => [each.member.key, each] as const));
      const byKey = new Map(members.map((member) => [member.key, member] as const));
      const stable = await stableContents(of);
      const targets: StagedTarget<P>[] = [];
      const slices = createTimeSlices();
      for (const placement of of.placements) {
        const { key } = placement;
        const isOffSchedule = result.held.has(key);
        targets.push({
          placement,
          gets: await contentFor(pass, {
            promotion: promoted.get(key),
            member: byKey.get(key),
            content: contents.get(key),
            fallback: stable.get(key),
            isOffSchedule,
          }),
          holdsForce: result.heldRequests.has(key),
          isOffSchedule,
        });
        if (slices.isOver) await slices.pause();
      }
      return targets;
    },
  };

  /** A promise only where something has to be read: there may be ten thousand. */
  function contentFor(
    pass: ReadingPass,
    { promotion, member, content, fallback, isOffSchedule }: OneTarget,
  ): StagedTarget<unknown>["gets"] | Promise<StagedTarget<unknown>["gets"]> {
    if (promotion !== undefined) return promotedContent(pass, content, promotion);
    if (member === undefined) return undefined;
    if (hasRevision(member) && content !== undefined)
      return {
        ...pick(content),
        promotion: keptPromotion(member, { isOffSchedule, nowMs: pass.nowMs }),
      };
    if (member.refused !== undefined) return contentBefore(pass, member);
    const isNew = member.desired === "" && !member.isPaused;
    return isNew && fallback !== undefined ? { ...fallback, promotion: undefined } : undefined;
  }

  /** Once a window lets it go on, or it was applied meanwhile, its deadline begins again; and once a pause ends that it was in flight in. */
  function keptPromotion(
    member: Member,
    { isOffSchedule, nowMs }: Pick<OneTarget, "isOffSchedule"> & Pick<ReadingPass, "nowMs">,
  ): Promotion | undefined {
    const { promotion, isHeld, wasPaused, isPaused, isReady } = member;
    const isResumed = wasPaused && !isPaused && !isReady;
    return promotion !== undefined && ((isHeld && !isOffSchedule) || isResumed)
      ? { ...promotion, at: formatTimeMs(nowMs) }
      : promotion;
  }

  async function promotedContent(
    { rollout, nowMs, referencesOf }: Pick<ReadingPass, "rollout" | "nowMs" | "referencesOf">,
    own: PinnedContent | undefined,
    { member, content, isRollback, planned }: Promoted,
  ): Promise<PinnedContent & { readonly promotion: Promotion }> {
    const promotion = promotionOf({ member, planned }, rollout, nowMs);
    const referencedObjects = isRollback
      ? await referencesOf(content)
      : (own?.referencedObjects ?? []);
    return { deploymentId: content, referencedObjects, promotion };
  }

  /** What a cluster had before its agent has refused what was promoted. */
  async function contentBefore(
    { nowMs, referencesOf }: Pick<ReadingPass, "nowMs" | "referencesOf">,
    { desired, promotion, refused = "" }: Member,
  ): Promise<StagedTarget<unknown>["gets"]> {
    if (promotion === undefined) return undefined;
    const referencedObjects = desired === "" ? [] : await referencesOf(desired);
    return {
      deploymentId: desired,
      referencedObjects,
      promotion: takenBack(promotion, refused, nowMs),
    };
  }

  /** Each content is read once: thousands of clusters may go back to the same. */
  function references(rollouts: readonly BundleRollout[]): ReadingPass["referencesOf"] {
    const known = new Map<string, Promise<readonly string[]>>();
    return (deploymentId) => {
      const found = known.get(deploymentId) ?? readReferences(deploymentId, rollouts);
      known.set(deploymentId, found);
      return found;
    };
  }

  async function readReferences(
    deploymentId: string,
    rollouts: readonly BundleRollout[],
  ): Promise<readonly string[]> {
    const pinned = rollouts
      .flatMap(({ spec }) => spec.targets)
      .find((target) => target.deploymentID === deploymentId);
    if (pinned !== undefined) return pinned.referencedObjects ?? [];
    // A content from before the strategy had stages.
    const bytes = await stored.read(deploymentId);
    return formatUsed(usedBy(await unpackContent({ deploymentId, bytes })));
  }
}

/** What is recorded with the content that a member gets. */
export function promotionOf(
  { member, planned }: Pick<Promoted, "member" | "planned">,
  { metadata: { name } }: Pick<BundleRollout, "metadata">,
  nowMs: number,
): Promotion {
  const before = member.promotion?.rollout === name ? member.promotion : undefined;
  // Its agent may not have reported yet that it is as ready as before the promotion that it has refused.
  const wasReady = member.isReady || (before?.refused !== undefined && before.wasReady !== false);
  return {
    rollout: name,
    at: formatTimeMs(nowMs),
    from: member.desired,
    ...(member.desired !== "" && !wasReady && { wasReady: false }),
    ...(planned !== undefined && { planned }),
    ...(planned !== undefined && before?.refused !== undefined && { refused: before.refused }),
  };
}

/**
 * What clusters get that have nothing yet and whose turn has not come: the revision before. One that a Policy protects gets it only
 * where that was approved for its stage: it may have been rolled out before there was such a cluster.
 */
async function stableContents<P extends StagedPlacement>({
  placements,
  groups,
  strategy,
  rollouts,
  members,
  assignment,
  result,
}: StagedPass<P>): Promise<ReadonlyMap<ObjectKey, PinnedContent>> {
  const stable = completedOf(rollouts, result.status.stable);
  if (stable === undefined) return new Map();
  const approved = { revision: stable.spec.revision, stored: stable.status };
  const isAllowed = ({ key, needsApproval }: Member) =>
    needsApproval !== true || isStageApproved(stagesOf(strategy), assignment.get(key), approved);
  const fresh = new Set(
    members.filter((member) => member.desired === "" && isAllowed(member)).map(({ key }) => key),
  );
  if (fresh.size === 0) return new Map();
  const clusters = placements
    .map(({ cluster }) => cluster)
    .filter((each) => fresh.has(keyOf(each)));
  return await pinnedContents(stable, clusters, groups, createTimeSlices());
}

function pick({ deploymentId, referencedObjects }: PinnedContent): PinnedContent {
  return { deploymentId, referencedObjects };
}
