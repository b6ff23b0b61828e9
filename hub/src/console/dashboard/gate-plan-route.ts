/** The plan that the approval of a Gate is about, for users who may read what a rollout changes. */
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Access } from "../access/cached-access.ts";
import { readGatePlan } from "../plans/gate-plan.ts";
import { planAttributes, planForbidden } from "../plans/plan-right.ts";
import type { Api } from "./context.ts";
import { appOf, parameter } from "./parameters.ts";
import { serve } from "./respond.ts";
import type { ViewedResources } from "./viewed-resources.ts";

export interface GatePlanRouteDeps {
  readonly rest: Pick<KubeRest, "get">;
  readonly access: Pick<Access, "may">;
  readonly resources: ViewedResources;
}

export function gatePlanRoute(api: Api, { rest, access, resources }: GatePlanRouteDeps): void {
  serve(api, "gatePlan", async (context) => {
    const { kind, namespace, name } = appOf(context);
    resources.requireView(context, kind, namespace);
    resources.requireView(context, bundleRollouts.kind, namespace);
    const { user } = context.var.session;
    if (!(await access.may(user, planAttributes(namespace)))) throw planForbidden(user, namespace);
    return await readGatePlan(
      rest,
      { workspace: namespace, kind, name },
      parameter(context, "gate"),
    );
  });
}
