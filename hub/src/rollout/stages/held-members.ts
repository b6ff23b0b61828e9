/** Which members are not tried again now, because no window permits it. Pure. */
import type { RolloutStrategy } from "@flotilla/shared/api";
import { hasRevision, isUnapplied, type Member } from "./member.ts";
import type { StageParts } from "./step-inputs.ts";

/** A rollout, whatever its phase is: what is in flight does not end with it. */
export interface HeldInputs {
  /** The BundleRollout. */
  readonly name: string;
  readonly strategy: Pick<RolloutStrategy, "rollback">;
  readonly members: readonly Member[];
  readonly assignment: ReadonlyMap<string, string>;
}

/**
 * The keys of members that have not applied what they are to have while their Schedules, or the windows of their stage, are closed. One
 * that gets back what it had is held by nothing, or where the strategy says so by the windows of its stage.
 */
export function heldMembers(
  { name, strategy, members, assignment }: HeldInputs,
  parts: readonly Pick<StageParts, "stage" | "window">[],
): ReadonlySet<string> {
  const isOpen = new Map(parts.map(({ stage, window }) => [stage.name, window.isOpen] as const));
  const held = members.filter(isUnapplied).filter((member) => {
    const isClosed = isOpen.get(assignment.get(member.key) ?? "") === false;
    if (member.promotion?.rollout === name && !hasRevision(member))
      return strategy.rollback?.respectWindows === true && isClosed;
    return member.isOffSchedule || isClosed;
  });
  return new Set(held.map(({ key }) => key));
}
