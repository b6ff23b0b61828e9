/** The members of a staged rollout: the state of each cluster, for one revision. Pure. */
import type { Promotion } from "@flotilla/shared/api";
import type { ReleaseTests } from "@flotilla/shared/api/rollout";

/** What would change in a cluster, as its agent has answered. */
export interface KnownMemberPlan {
  readonly kind: "known";
  /** The digest of the diff, as it is approved; "": nothing would change. */
  readonly diff: string;
  /** Whether the upgrade would fail. */
  readonly fails: boolean;
  /** Nothing is there to compare with, so the agent was not asked. */
  readonly isFirst?: true | undefined;
}

/** The plan of a member for the content of the revision, while it still fits what is installed. */
export type MemberPlan =
  | KnownMemberPlan
  /**
   * There is no answer; it is asked again at that time, ms since 1970. Undefined: not before its deployment changes. `message`: for
   * people.
   */
  | { readonly kind: "unknown"; readonly message: string; readonly untilMs: number | undefined };

/** A target cluster of a rollout, as the engine sees it. */
export interface Member {
  /** `namespace/name` of its Cluster. */
  readonly key: string;
  /** The content of the revision for it; "" where none of its targets match it: it is not promoted. */
  readonly content: string;
  /** The content that it is to have now; "" where there is none yet. */
  readonly desired: string;
  /** What its agent has applied, and whether that is ready. */
  readonly applied: string;
  readonly isReady: boolean;
  /** Since when it is not ready, ms since 1970; undefined: not known, or it is ready. */
  readonly unreadySinceMs: number | undefined;
  /** By which rollout `desired` was promoted; undefined: by none. */
  readonly promotion: Promotion | undefined;
  /** Its agent has no retries left for `desired`. */
  readonly hasGivenUp: boolean;
  readonly waitsForDependency: boolean;
  /** The deployments of its cluster that it waits for; empty: none, or its agent does not say which. */
  readonly dependencies: readonly string[];
  /** When the last wait for a dependency ended, ms since 1970; undefined: it has not waited. */
  readonly dependenciesMetMs: number | undefined;
  /** What the tests of the release mean. */
  readonly tests: ReleaseTests;
  /** The results of the tests of what is applied; undefined: none yet. */
  readonly testsPassed: boolean | undefined;
  readonly isConnected: boolean;
  /** When its agent was last connected, RFC 3339; "": it is, or it never was. */
  readonly offlineSince: string;
  /** It, its target or its Bundle is paused or suspended. */
  readonly isPaused: boolean;
  /** Its deployment is paused as written: its deadline begins again when that is taken back. */
  readonly wasPaused: boolean;
  /** Its Schedules are closed. */
  readonly isOffSchedule: boolean;
  /** What it is to have is in flight and held by `offSchedule`, which is written: it is not tried again, and its deadline stands still. */
  readonly isHeld: boolean;
  readonly isSkipped: boolean;
  /** A Policy requires an approval before it. */
  readonly needsApproval?: boolean;
  /** A request to force: it waits for its turn, is sent, or was answered. Absent: there is none, or nothing is deployed. */
  readonly force?: "waiting" | "sent" | "answered" | undefined;
  /** Why it is not ready, for people; "" where nothing is known. */
  readonly message: string;
  /** Absent: it has to be planned, where its stage waits for the approval of a plan. */
  readonly plan?: MemberPlan | undefined;
  /**
   * The content that was promoted and that its agent has refused, because something else would have changed than was approved; absent:
   * none. It counts as not promoted: `desired` is what it had before, and gets back.
   */
  readonly refused?: string | undefined;
  /** Why its agent cannot plan once more right before Helm runs, for people; absent: it can. */
  readonly cannotVerify?: string | undefined;
}

/** The classes of members, as the counts of a rollout have them. */
export type MemberClass =
  | "skipped"
  | "done"
  | "failed"
  | "inFlight"
  | "paused"
  | "offline"
  | "offSchedule"
  | "pending";

/** What the class of a member depends on besides itself. */
export interface ClassContext {
  /** The BundleRollout. */
  readonly rollout: string;
  readonly nowMs: number;
  readonly startedAtMs: number;
  /** When a person resumed the rollout last; deadlines begin again then. */
  readonly resumedAtMs: number | undefined;
  readonly deadlineMs: number;
  /** Whether the windows of its stage are open. */
  readonly isWindowOpen: boolean;
  /** Its stage is passed over. */
  readonly isStageSkipped: boolean;
  /** An approval before its stage is stored as passed. */
  readonly isStageApproved: boolean;
  /** Whether the approvals of plans let a member through. */
  readonly isApproved: (plan: MemberPlan | undefined) => boolean;
  /** Whether agents plan once more right before Helm runs. */
  readonly verifies: boolean;
}

/** A member with its class in one rollout. */
export interface ClassedMember {
  readonly member: Member;
  readonly class: MemberClass;
  /** It was not ready before, so that it counts neither as unavailable nor as a failure. */
  readonly isBrokenBefore: boolean;
  /** When it fails if nothing changes, ms since 1970; undefined: not in flight, or its deadline stands still. */
  readonly failsAtMs: number | undefined;
  /** It is not promoted, because a Policy requires an approval and none has passed. */
  readonly lacksApproval: boolean;
  /**
   * Its stage waits for the approval of a plan, and what would change in it is not known, not approved, or could not be verified: it is not
   * promoted.
   */
  readonly isUnapproved: boolean;
}

export function classify(member: Member, context: ClassContext): ClassedMember {
  const isPromoted = hasRevision(member);
  const failsAtMs = isPromoted ? deadlineOf(member, context) : undefined;
  const kind = classOf(member, context, failsAtMs);
  return {
    member,
    class: kind,
    isBrokenBefore: isBrokenBefore(member, context),
    failsAtMs: kind === "inFlight" ? failsAtMs : undefined,
    lacksApproval: member.needsApproval === true && !context.isStageApproved,
    isUnapproved: !isPromoted && !mayBePromoted(member, context),
  };
}

/** What an agent has refused is taken back before it is promoted again. */
function mayBePromoted(
  { plan, refused, cannotVerify }: Member,
  { isApproved, verifies }: ClassContext,
): boolean {
  return refused === undefined && isApproved(plan) && !(verifies && cannotVerify !== undefined);
}

function classOf(
  member: Member,
  context: ClassContext,
  failsAtMs: number | undefined,
): MemberClass {
  if (member.isSkipped || context.isStageSkipped) return "skipped";
  if (isDone(member)) return "done";
  if (hasRevision(member)) {
    if (member.isPaused) return "inFlight";
    const isLate = failsAtMs !== undefined && context.nowMs > failsAtMs;
    return member.hasGivenUp || isLate ? "failed" : "inFlight";
  }
  if (member.isPaused) return "paused";
  if (!member.isConnected) return "offline";
  return member.isOffSchedule || !context.isWindowOpen ? "offSchedule" : "pending";
}

/** Whether what it is to have, whichever content that is, was not applied yet. */
export function isUnapplied({ desired, applied }: Pick<Member, "desired" | "applied">): boolean {
  return desired !== "" && applied !== desired;
}

/** Whether it was promoted to the revision, or had the same content before. */
export function hasRevision({ content, desired }: Member): boolean {
  return content !== "" && desired === content;
}

/** Whether it waits for a dependency, so that its deadline stands still. */
export function isBlocked(member: Member): boolean {
  return member.waitsForDependency && hasRevision(member);
}

/** Whether its deadline stands still, and begins again without a report of its agent that says so, or with one. */
export function standsStill(member: Member): boolean {
  return isBlocked(member) || member.isHeld || (member.wasPaused && !member.isPaused);
}

/** Whether it has a request to force that is not answered. */
export function isForced({ force }: Member): boolean {
  return force === "waiting" || force === "sent";
}

/** The readiness of an earlier content proves nothing about this one. */
function isDone(member: Member): boolean {
  return (
    hasRevision(member) &&
    member.applied === member.content &&
    member.isReady &&
    (member.tests !== "Required" || member.testsPassed === true)
  );
}

/** Undefined where it stands still. */
function deadlineOf(member: Member, context: ClassContext): number | undefined {
  if (member.isPaused || standsStill(member)) return undefined;
  const { startedAtMs, resumedAtMs = 0, deadlineMs } = context;
  const { unreadySinceMs = 0, dependenciesMetMs = 0 } = member;
  const promotedAtMs = promotedAt(member, context.rollout) ?? startedAtMs;
  return Math.max(promotedAtMs, unreadySinceMs, dependenciesMetMs, resumedAtMs) + deadlineMs;
}

function promotedAt({ promotion }: Member, rollout: string): number | undefined {
  if (promotion?.rollout !== rollout) return undefined;
  const atMs = Date.parse(promotion.at);
  return Number.isNaN(atMs) ? undefined : atMs;
}

function isBrokenBefore(member: Member, { rollout, startedAtMs }: ClassContext): boolean {
  const { promotion, desired, isReady, isConnected, unreadySinceMs } = member;
  if (promotion?.rollout === rollout && hasRevision(member))
    return promotion.from !== "" && promotion.wasReady === false;
  const wasUnready = unreadySinceMs === undefined || unreadySinceMs <= startedAtMs;
  return desired !== "" && isConnected && !isReady && wasUnready;
}

/** Whether it had something that was ready, or nothing at all: promoting it may make a cluster unavailable. */
export function isAvailableOrNew({ desired, isReady, applied }: Member): boolean {
  return desired === "" || (isReady && applied === desired);
}

/** Whether it counts as unavailable in its stage: it was promoted and is not done, or it is connected and not ready. */
export function isUnavailable({ member, class: kind, isBrokenBefore }: ClassedMember): boolean {
  if (isBrokenBefore || kind === "skipped" || kind === "done") return false;
  if (hasRevision(member)) return true;
  return member.isConnected && !isAvailableOrNew(member);
}

/** Whether it counts as a failure of its stage. */
export function isFailure({ class: kind, isBrokenBefore }: ClassedMember): boolean {
  return kind === "failed" && !isBrokenBefore;
}
