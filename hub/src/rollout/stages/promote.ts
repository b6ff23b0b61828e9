/** Which members of a stage are promoted next, under its limits. Pure. */
import {
  type ClassedMember,
  isAvailableOrNew,
  isFailure,
  isUnavailable,
  type Member,
} from "./member.ts";

/** The limits of one stage, in clusters. */
export interface StageLimits {
  /** At least 1. */
  readonly maxUnavailable: number;
  /** The failures that are tolerated, with those that a person has accepted. */
  readonly maxFailures: number;
}

/**
 * The members to promote now, in order: those that are unavailable already come first, then by name. None where the limit of
 * clusters in flight is reached; none that is available or new where the limit of unavailable ones is.
 */
export function choosePromotions(
  members: readonly ClassedMember[],
  limits: StageLimits,
): readonly Member[] {
  const { maxUnavailable } = limits;
  let inFlight = members.filter((each) => each.class === "inFlight").length;
  let unavailable = unavailableCount(members, limits);
  const chosen: Member[] = [];
  for (const { member } of candidates(members)) {
    if (inFlight >= maxUnavailable) break;
    if (isAvailableOrNew(member)) {
      if (unavailable >= maxUnavailable) continue;
      unavailable += 1;
    }
    inFlight += 1;
    chosen.push(member);
  }
  return chosen;
}

/** Unavailable members; tolerated failures are taken off: they must not stop the others. */
export function unavailableCount(
  members: readonly ClassedMember[],
  { maxFailures }: Pick<StageLimits, "maxFailures">,
): number {
  const failures = members.filter(isFailure).length;
  return members.filter(isUnavailable).length - Math.min(failures, maxFailures);
}

function candidates(members: readonly ClassedMember[]): readonly ClassedMember[] {
  const pending = members.filter(isEligible);
  const isBroken = ({ member }: ClassedMember) => !isAvailableOrNew(member);
  return [...pending.filter(isBroken), ...pending.filter((each) => !isBroken(each))];
}

/** Whether it may be promoted when its turn comes. */
export function isEligible(each: ClassedMember): boolean {
  return (
    each.class === "pending" &&
    each.member.content !== "" &&
    !each.lacksApproval &&
    !each.isUnapproved
  );
}
