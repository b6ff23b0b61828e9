/** What the agents of a simulation answer when the leader asks what would change. */
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import type { Member, MemberPlan } from "../member.ts";
import { plannedAgainAt } from "../refusals.ts";
import { diffIn, type SimulatedCluster, type Simulation } from "./simulation.ts";

/** The agents answer what the step asks for; returns how many did. */
export function answerPlans(
  { plans, clusters, isAnswering, nowMs }: Simulation,
  { spec }: BundleRollout,
  members: readonly Member[],
): number {
  if (!isAnswering) return 0;
  for (const { key, applied } of members) {
    const cluster = clusters.get(key);
    if (cluster === undefined) continue;
    const content = spec.revision;
    const refusals = refusalsIn(cluster);
    plans.set(key, { content, applied, atMs: nowMs, refusals, diff: diffIn(cluster, content) });
  }
  return members.length;
}

/** A refusal that was not taken back yet is one more. */
function refusalsIn({ promotion, refused }: SimulatedCluster): number {
  return (promotion?.refused ?? 0) + (refused === undefined ? 0 : 1);
}

/** As long as an answer counts, and how long after none the agent is asked again. */
const freshMs = 15 * 60_000;
const retryMs = 60_000;

/** What the leader knows of it, while that fits. */
export function planIn(
  { plans, nowMs }: Simulation,
  cluster: SimulatedCluster,
  content: string,
): MemberPlan | undefined {
  const { name, applied, promotion } = cluster;
  const againAtMs = plannedAgainAt(promotion);
  if (againAtMs !== undefined && nowMs < againAtMs)
    return { kind: "unknown", message: "its agent has refused again", untilMs: againAtMs };
  const plan = plans.get(name);
  if (plan === undefined || plan.content !== content || plan.applied !== applied) return undefined;
  if (plan.refusals !== refusalsIn(cluster)) return undefined;
  const untilMs = plan.atMs + (plan.diff === undefined ? retryMs : freshMs);
  if (nowMs > untilMs) return undefined;
  return plan.diff === undefined
    ? { kind: "unknown", message: "its agent is older", untilMs }
    : { kind: "known", diff: plan.diff, fails: false };
}
