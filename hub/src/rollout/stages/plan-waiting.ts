/** What keeps members waiting whose plans are not made, not approved, or cannot be verified. Pure. */
import type { RolloutStage } from "@flotilla/shared/api";
import type { GateRecord } from "@flotilla/shared/api/rollout";
import type { ClassedMember, Member } from "./member.ts";
import { verifiesPlans } from "./plan-gates.ts";
import { type Named, named, type Waiting } from "./waiting.ts";

/** `rollout`: the name of the BundleRollout. `gates`: the approvals that are waited for. */
export function planWaiting(
  { stage, rollout }: { readonly stage: RolloutStage; readonly rollout: string },
  gates: readonly GateRecord[],
  members: readonly ClassedMember[],
): Waiting {
  const waiting = members
    .filter(
      (each) => each.isUnapproved && (each.class === "pending" || each.class === "offSchedule"),
    )
    .map(({ member }) => member);
  const verifies = verifiesPlans(stage);
  return {
    reason: "GateWaiting",
    stage: stage.name,
    gates,
    planning: some(waiting.filter(({ plan }) => plan === undefined)),
    unknown: withReason(waiting, ({ plan }) =>
      plan?.kind === "unknown" ? plan.message : undefined,
    ),
    unverified: withReason(waiting, ({ plan, cannotVerify }) =>
      verifies && plan?.kind === "known" ? cannotVerify : undefined,
    ),
    refused: some(waiting.filter((member) => hasRefused(member, rollout))),
  };
}

/** Whether its agent has refused what this rollout promoted, and that was not promoted again since. */
function hasRefused({ promotion, refused }: Member, rollout: string): boolean {
  const isTakenBack = promotion?.refused !== undefined && promotion.planned === undefined;
  return promotion?.rollout === rollout && (refused !== undefined || isTakenBack);
}

function some(members: readonly Member[]): Named | undefined {
  return members.length === 0 ? undefined : named(members.map(({ key }) => key));
}

/** The members for which there is a reason, with the first one's. */
function withReason(
  members: readonly Member[],
  reasonOf: (member: Member) => string | undefined,
): (Named & { readonly why: string }) | undefined {
  const found = members.filter((member) => reasonOf(member) !== undefined);
  const why = found.map(reasonOf).find((each) => each !== undefined);
  return why === undefined ? undefined : { ...named(found.map(({ key }) => key)), why };
}
