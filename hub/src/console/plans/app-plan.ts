/** Makes the plan of an app: asks the agents of its clusters. Nothing is stored, and nothing changes. */
import { randomBytes } from "node:crypto";
import type { Bundle } from "@flotilla/shared/api";
import { isMadeFor } from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { FleetPlan } from "@flotilla/shared/plan";
import { hubErrors } from "../../base/index.ts";
import {
  type AskAgent,
  fleetPlanOf,
  type ProposedChange,
  type ProposedPlanDeps,
  planCandidates,
  planFleet,
  proposedCandidates,
  sampled,
} from "../../rollout/index.ts";
import { stagesOf } from "../../rules/index.ts";
import type { PlanRequest } from "./parse-plan.ts";

export interface AppPlanDeps extends ProposedPlanDeps {
  readonly bundles: Pick<Store<Bundle>, "get">;
  readonly ask: AskAgent;
}

const keyBytes = 32;

/**
 * `change`: what is planned instead of what the app says. Throws REQUEST_TARGET_NOT_FOUND, what is wrong with the change, and the
 * reason of `signal` when it aborts.
 */
export async function planApp(
  deps: AppPlanDeps,
  { workspace, kind, name, cluster, stage, sample }: PlanRequest,
  change: ProposedChange | undefined,
  signal: AbortSignal,
): Promise<FleetPlan> {
  const key = keyOf({ namespace: workspace, name });
  const bundle = deps.bundles.get(keyOf({ namespace: workspace, name: bundleNameOf(kind, name) }));
  if (bundle === undefined || !isMadeFor(bundle.metadata.labels, kind, name))
    throw notFound(`${kind} ${key} has no deployments`);
  const stages = stagesOf(deps.strategies.strategyOf(bundle) ?? {});
  if (stage !== undefined && !stages.some((each) => each.name === stage))
    throw notFound(
      `${kind} ${key} has no stage ${stage}: it has ${stages.map((each) => each.name).join(", ")}`,
    );
  const wanted =
    cluster === undefined || cluster.includes("/") ? cluster : `${workspace}/${cluster}`;
  const all =
    change === undefined
      ? await planCandidates(deps, bundle)
      : await proposedCandidates(deps, { kind, bundle, change }, signal);
  const own = all.filter(
    (each) =>
      (wanted === undefined || each.cluster === wanted) &&
      (stage === undefined || each.stage === stage),
  );
  if (wanted !== undefined && own.length === 0)
    throw notFound(`${kind} ${key} is not to be deployed to Cluster ${wanted}`);
  const asked = sampled(own, sample);
  const options = { key: randomBytes(keyBytes), signal };
  const plan = await planFleet(asked, deps.ask, options);
  return fleetPlanOf(plan, { total: own.length, notAsked: own.length - asked.length });
}

function notFound(message: string): AppError {
  return new AppError(hubErrors.REQUEST_TARGET_NOT_FOUND, message);
}
