/** What the members of a stage wait for while it promotes them. Pure. */
import type { RolloutStage, StageWindow } from "@flotilla/shared/api";
import type { StageStatus } from "@flotilla/shared/api/rollout";
import { currentRecord, type GateSubject } from "./gate.ts";
import { type ClassedMember, isUnavailable, type Member } from "./member.ts";
import { planGatesOf } from "./plan-gates.ts";
import { planWaiting } from "./plan-waiting.ts";
import { choosePromotions, type StageLimits, unavailableCount } from "./promote.ts";
import type { StageWindows } from "./stage-windows.ts";
import { type Named, named, type Waiting } from "./waiting.ts";

/** What is asked of a stage. */
export interface WaitingStage {
  readonly stage: RolloutStage;
  readonly stored: StageStatus | undefined;
  readonly limits: StageLimits;
  readonly window: StageWindows;
  readonly subject: Pick<GateSubject, "rollout">;
  /** Why the rollout of a dependency does not go on, as a sentence; undefined: it does, or has none. */
  readonly dependencyProblem: (name: string) => string | undefined;
  /** Whether the Schedules of a member and these windows are never open together, though each of them is. */
  readonly isNeverOpenFor: (member: Member, windows: readonly StageWindow[]) => boolean;
}

/** `members`: those that are not skipped; some are in flight, pending or off schedule. */
export function memberWaiting(input: WaitingStage, members: readonly ClassedMember[]): Waiting {
  const { stage, limits, window, subject } = input;
  const keysOf = (some: readonly ClassedMember[]) => some.map(({ member }) => member.key);
  const inFlight = members.filter((each) => each.class === "inFlight");
  const blocked = inFlight.filter(({ member }) => member.waitsForDependency);
  const offSchedule = members.filter((each) => each.class === "offSchedule");
  // What no window permits to try again is not on its way.
  const flying = inFlight.filter(({ member }) => !member.isHeld);
  const isFree = choosePromotions(members, limits).length > 0;
  if (blocked.length > 0) {
    const all = [...new Set(blocked.flatMap((each) => each.member.dependencies))].sort();
    // Agents say the names: a sentence has room for a few, and only these are looked up.
    const dependencies = named(all);
    return {
      reason: "DependencyNotReady",
      stage: stage.name,
      clusters: named(keysOf(blocked)),
      dependencies,
      problems: dependencies.first.flatMap((name) => input.dependencyProblem(name) ?? []),
      isIdle: blocked.length === inFlight.length && !isFree,
    };
  }
  if (flying.length === 0 && !isFree) {
    const unapproved = members.filter((each) => each.class === "pending" && each.lacksApproval);
    if (unapproved.length > 0)
      return {
        reason: "GateWaiting",
        stage: stage.name,
        gates: [],
        unapproved: named(keysOf(unapproved)),
      };
    const pending = members.filter((each) => each.class === "pending");
    if (pending.length > 0 && pending.every(({ isUnapproved }) => isUnapproved)) {
      const records = planGatesOf(stage).map((gate) => currentRecord(input.stored?.gates, gate));
      const waiting = records.flatMap((record) => (record?.result === "Waiting" ? [record] : []));
      return planWaiting({ stage, rollout: subject.rollout }, waiting, members);
    }
    if (pending.length > 0) {
      const unavailable = members.filter(isUnavailable);
      return {
        reason: "LimitReached",
        stage: stage.name,
        limit: limits.maxUnavailable,
        unavailable: { ...named(keysOf(unavailable)), count: unavailableCount(members, limits) },
      };
    }
    return {
      reason: "WindowClosed",
      stage: stage.name,
      window: window.closed,
      clusters: offSchedule.length + inFlight.length,
      shutOut: shutOutOf(input, offSchedule),
    };
  }
  return {
    reason: "Promoting",
    stage: stage.name,
    done: members.filter((each) => each.class === "done").length,
    total: members.length,
    inFlight: named(keysOf(inFlight)),
  };
}

/** Which of the first members no window ever opens for: they are left in the end, and then they are the first. */
function shutOutOf(
  { stage, isNeverOpenFor }: WaitingStage,
  offSchedule: readonly ClassedMember[],
): Named | undefined {
  const keys = offSchedule
    .slice(0, mostJudged)
    .filter(({ member }) => isNeverOpenFor(member, stage.windows ?? []))
    .map(({ member }) => member.key);
  return keys.length === 0 ? undefined : named(keys);
}

/** Members whose Schedules are compared with the windows of their stage in one step. */
const mostJudged = 10;
