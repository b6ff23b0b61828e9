/** Which members get back what they had before. Pure. */
import { type ClassedMember, hasRevision, isUnapplied, type Member } from "./member.ts";

/** A member that a rollback is about. */
export interface RollbackContext {
  /** The BundleRollout. */
  readonly rollout: string;
  readonly nowMs: number;
  readonly deadlineMs: number;
}

/** Whether the rollout gave it the revision, and it had something before. */
export function mayGoBack(member: Member, rollout: string): boolean {
  const { promotion, desired } = member;
  return (
    hasRevision(member) &&
    promotion?.rollout === rollout &&
    promotion.from !== "" &&
    promotion.from !== desired
  );
}

/** Whether it goes back when it returns, in its turn, and holds up nobody: it has applied the revision and is not connected. */
export function goesBackLater(member: Member): boolean {
  return !member.isConnected && !isUnapplied(member);
}

/** Whether it keeps the revision because it had nothing before. */
export function isFirstInstallation(member: Member, rollout: string): boolean {
  return (
    hasRevision(member) && member.promotion?.rollout === rollout && member.promotion.from === ""
  );
}

/** Whether it has gone back and is not ready yet. One that is not connected, or late, holds up nobody. */
export function isGoingBack(member: Member, context: RollbackContext): boolean {
  const { promotion, desired, applied, isReady, isConnected } = member;
  if (promotion?.rollout !== context.rollout || hasRevision(member)) return false;
  const atMs = Date.parse(promotion.at);
  const isLate = context.nowMs - atMs > context.deadlineMs;
  return isConnected && !isLate && !(isReady && applied === desired);
}

/** When one that is going back stops to hold up others, ms since 1970. */
export function goesBackUntil(member: Member, context: RollbackContext): number | undefined {
  if (!isGoingBack(member, context)) return undefined;
  return Date.parse(member.promotion?.at ?? "") + context.deadlineMs;
}

/**
 * The members of one stage that go back now: those that are not ready first, at most `maxUnavailable` at a time. Those that are not
 * connected and have not applied the revision at once: nothing happens there.
 */
export function chooseRollbacks(
  members: readonly ClassedMember[],
  context: RollbackContext,
  maxUnavailable: number,
): readonly Member[] {
  const candidates = members
    .filter((each) => each.class !== "skipped")
    .map(({ member }) => member)
    .filter((member) => mayGoBack(member, context.rollout) && !member.isPaused);
  const untouched = candidates.filter((each) => !each.isConnected && isUnapplied(each));
  const connected = candidates.filter(({ isConnected }) => isConnected);
  const ordered = [
    ...connected.filter(({ isReady }) => !isReady),
    ...connected.filter(({ isReady }) => isReady),
  ];
  const busy = members.filter(({ member }) => isGoingBack(member, context)).length;
  return [...untouched, ...ordered.slice(0, Math.max(0, maxUnavailable - busy))];
}
