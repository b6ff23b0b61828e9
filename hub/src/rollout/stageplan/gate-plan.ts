/** The plan that the record of a gate is about, as it is shown. Pure. */
import type { GateRecord } from "@flotilla/shared/api/rollout";
import type { FleetPlan } from "@flotilla/shared/plan";
import type { GroupText } from "../plan/ask-fleet.ts";
import { fleetPlanOf } from "../plan/fleet-plan.ts";
import { groupPlans } from "../plan/group-plans.ts";
import type { PlanOutcome } from "../plan/plan-outcome.ts";
import type { Member } from "../stages/member.ts";
import type { KnownDiff } from "./planner.ts";

/** `members`: of the stage, without the revision. `diff`: what is known of one. */
export function gatePlanOf(
  { plan }: Pick<GateRecord, "plan">,
  members: readonly Member[],
  diff: (digest: string) => KnownDiff | undefined,
): FleetPlan {
  const asked = new Set(plan?.diffs ?? []);
  const outcomes = new Map<string, PlanOutcome>();
  for (const member of members) {
    const outcome = outcomeOf(member, asked, diff);
    if (outcome !== undefined) outcomes.set(member.key, outcome);
  }
  const grouped = groupPlans(outcomes);
  const texts = new Map<string, GroupText>();
  const diffs = new Map(members.map(({ key, plan: own }) => [key, own] as const));
  for (const { sample, result } of grouped.groups) {
    const own = diffs.get(sample);
    const text = own?.kind === "known" ? diff(own.diff)?.text : undefined;
    if (text !== undefined && text !== "") texts.set(sample, { digest: result.digest, text });
  }
  return fleetPlanOf({ ...grouped, texts }, { total: outcomes.size, notAsked: 0 });
}

function outcomeOf(
  { plan, isConnected }: Member,
  asked: ReadonlySet<string>,
  diff: (digest: string) => KnownDiff | undefined,
): PlanOutcome | undefined {
  if (plan === undefined)
    return isConnected
      ? undefined
      : { kind: "unknown", reason: "Offline", message: "its agent is offline" };
  if (plan.kind === "unknown") return { kind: "unknown", reason: "Failed", message: plan.message };
  if (plan.diff === "") return unchanged;
  const known = asked.has(plan.diff) ? diff(plan.diff) : undefined;
  return known && { kind: "known", result: { ...known.result, digest: plan.diff } };
}

const unchanged: PlanOutcome = {
  kind: "known",
  result: {
    result: "none",
    counts: { create: 0, update: 0, replace: 0, delete: 0 },
    digest: "",
    shape: "",
    applied: "",
    revision: 0,
    remarks: [],
    hooks: 0,
    failures: 0,
  },
};
