/** Reads the plan that the approval of a Gate is about, as it was stored when the Gate was made. */

import { hubNamespace } from "@flotilla/shared/api/names";
import { gates } from "@flotilla/shared/api/rollout";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, secrets } from "@flotilla/shared/kube/objects";
import type { FleetPlan } from "@flotilla/shared/plan";
import { hubErrors } from "../../base/index.ts";
import { planIn, planSecretName } from "../../rollout/index.ts";
import type { PlanRequest } from "./parse-plan.ts";

/** Throws REQUEST_TARGET_NOT_FOUND. */
export async function readGatePlan(
  rest: Pick<KubeRest, "get">,
  { workspace: namespace, kind, name }: PlanRequest,
  gateName: string,
): Promise<FleetPlan> {
  const gate = await rest.get(gates, { namespace, name: gateName });
  const { app, rollout, digest, plan } = gate?.spec ?? {};
  if (app?.kind !== kind || app.name !== name || rollout === undefined || digest === undefined)
    throw notFound(`${kind} ${namespace}/${name} has no Gate ${gateName}`);
  if (plan === undefined) throw notFound(`Gate ${namespace}/${gateName} is not about a plan`);
  const key = keyOf({ namespace, name: rollout.name });
  const secret = await rest.get(secrets, {
    namespace: hubNamespace,
    name: planSecretName(key, digest),
  });
  const stored = secret && planIn(secret);
  if (stored !== undefined) return stored;
  throw notFound(
    `the plan of Gate ${namespace}/${gateName} is not stored any more: a day after the decision it is deleted; without --gate a new plan is made`,
  );
}

function notFound(message: string): AppError {
  return new AppError(hubErrors.REQUEST_TARGET_NOT_FOUND, message);
}
