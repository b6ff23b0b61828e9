/** Plans the clusters of an app, and groups what their agents answer. */
import { type AskedPlan, askFleet, askTexts } from "../plan/ask-fleet.ts";
import { groupPlans } from "../plan/group-plans.ts";
import type { AskAgent } from "../plan/plan-outcome.ts";
import type { PlanCandidate } from "./desired-plan.ts";

/** `candidates`: each cluster once. Throws the reason of `signal` when it aborts. */
export async function planFleet(
  candidates: readonly PlanCandidate[],
  ask: AskAgent,
  options: { readonly key: Uint8Array; readonly signal: AbortSignal },
): Promise<AskedPlan> {
  const targets = candidates.flatMap(({ plan }) => (plan.kind === "ask" ? [plan.target] : []));
  const known = candidates.flatMap(({ cluster, plan }) =>
    plan.kind === "ask" ? [] : [[cluster, plan] as const],
  );
  const asked = await askFleet(targets, ask, options);
  const grouped = groupPlans(new Map([...asked, ...known]));
  const byCluster = new Map(targets.map((target) => [target.cluster, target] as const));
  return { ...grouped, texts: await askTexts(grouped, byCluster, ask, options) };
}
