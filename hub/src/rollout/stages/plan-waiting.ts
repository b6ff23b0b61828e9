/** What keeps members waiting whose plans are not made, or not approved. Pure. */
import type { GateRecord } from "@flotilla/shared/api/rollout";
import type { ClassedMember } from "./member.ts";
import { named, type Waiting } from "./waiting.ts";

/** `gates`: the approvals that are waited for. */
export function planWaiting(
  stage: string,
  gates: readonly GateRecord[],
  members: readonly ClassedMember[],
): Waiting {
  const waiting = members.filter(
    (each) => each.isUnapproved && (each.class === "pending" || each.class === "offSchedule"),
  );
  const planning = waiting.filter(({ member }) => member.plan === undefined);
  const unknown = waiting.flatMap(({ member }) =>
    member.plan?.kind === "unknown" ? [{ key: member.key, why: member.plan.message }] : [],
  );
  const [first] = unknown;
  return {
    reason: "GateWaiting",
    stage,
    gates,
    planning: planning.length === 0 ? undefined : named(planning.map(({ member }) => member.key)),
    unknown: first && { ...named(unknown.map(({ key }) => key)), why: first.why },
  };
}
