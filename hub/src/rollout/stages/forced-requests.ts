/**
 * Which clusters wait with a request to force: Helm upgrades whatever the state is, so it may make each of them unavailable. It goes
 * through the stages in their order, under the limits of each and without gates; what was approved is only installed again. Pure.
 */
import { type ClassedMember, isAvailableOrNew, isFailure, type Member } from "./member.ts";
import type { StageLimits } from "./promote.ts";

/** What forces a part of the clusters: a stage, or those that are in none. */
export interface ForcedPart {
  readonly members: readonly ClassedMember[];
  readonly limits: StageLimits;
  readonly isWindowOpen: boolean;
}

/** The keys of those that wait for their turn. A cluster that is out of reach is not asked until it is back: it would not wait then. */
export function heldRequests(parts: readonly ForcedPart[]): ReadonlySet<string> {
  const held = new Set<string>();
  let isOpen = true;
  for (const part of parts) {
    const chosen = isOpen && part.isWindowOpen ? chooseForced(part) : new Set<Member>();
    for (const { member } of part.members)
      if (member.force !== undefined && member.force !== "answered" && !chosen.has(member))
        held.add(member.key);
    isOpen &&= isSettled(part);
  }
  return held;
}

/** Those that have the request, and those that get it now: first what is not ready already, which cannot get worse by it. */
function chooseForced({ members, limits }: ForcedPart): ReadonlySet<Member> {
  const reachable = members.map(({ member }) => member).filter(isReachable);
  const sent = reachable.filter(({ force }) => force === "sent");
  const waiting = reachable.filter(({ force }) => force === "waiting");
  const chosen = new Set(sent);
  let unavailable = unavailableIn(members) - toleratedIn(members, limits);
  for (const member of [
    ...waiting.filter((each) => !isAvailableOrNew(each)),
    ...waiting.filter(isAvailableOrNew),
  ]) {
    if (chosen.size >= limits.maxUnavailable) break;
    if (isAvailableOrNew(member)) {
      if (unavailable >= limits.maxUnavailable) continue;
      unavailable += 1;
    }
    chosen.add(member);
  }
  return chosen;
}

/** Whether the next stage may be asked: all that can be reached have answered, and no more of them are unavailable than may fail. */
function isSettled({ members, limits }: ForcedPart): boolean {
  const reachable = members.filter(({ member }) => isReachable(member));
  const isAnswered = reachable.every(
    ({ member: { force } }) => force === undefined || force === "answered",
  );
  return isAnswered && unavailableIn(reachable) <= toleratedIn(reachable, limits);
}

/** One that is asked counts from then on: its status still says that it is ready. */
function unavailableIn(members: readonly ClassedMember[]): number {
  return members.filter(
    ({ member, isBrokenBefore, class: kind }) =>
      kind !== "skipped" &&
      !isBrokenBefore &&
      member.isConnected &&
      (member.force === "sent" || !isAvailableOrNew(member)),
  ).length;
}

function toleratedIn(
  members: readonly ClassedMember[],
  { maxFailures }: Pick<StageLimits, "maxFailures">,
): number {
  return Math.min(members.filter(isFailure).length, maxFailures);
}

function isReachable({ isConnected, isPaused, isOffSchedule, desired }: Member): boolean {
  return isConnected && !isPaused && !isOffSchedule && desired !== "";
}
