/** The members that a Gate is about. Pure. */
import type { GateRecord } from "@flotilla/shared/api/rollout";
import { hasRevision, type Member } from "./member.ts";

/** The members of a stage that do not have the revision. `assignment`: the stage of each, by key. */
export function waitingIn(
  members: readonly Member[],
  assignment: ReadonlyMap<string, string>,
  stage: string,
): readonly Member[] {
  return members.filter((member) => assignment.get(member.key) === stage && !hasRevision(member));
}

/** Whether an approval is about it. One that is not about a plan is about all. */
export function isPlannedIn({ plan: own }: Member, plan: GateRecord["plan"]): boolean {
  return plan === undefined || (own?.kind === "known" && plan.diffs.includes(own.diff));
}
