/** One app, cluster, release or source. */
import { schedules } from "@flotilla/shared/api";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import type { AppRef } from "@flotilla/shared/dashboard";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import type { Access } from "../access/cached-access.ts";
import type { FleetDetails } from "../fleetview/index.ts";
import { requestAttributes } from "../requests/access.ts";
import { requestKinds } from "../requests/parse-request.ts";
import type { ActionsFor } from "./action-routes.ts";
import type { Api, ApiContext } from "./context.ts";
import { notFound } from "./errors.ts";
import type { AnswerLarge } from "./large-answers.ts";
import { appOf, clusterOf, releaseOf, sourceOf } from "./parameters.ts";
import { serve } from "./respond.ts";
import type { ViewedResources } from "./viewed-resources.ts";

export interface DetailRoutesDeps {
  readonly details: FleetDetails;
  readonly access: Pick<Access, "may">;
  readonly resources: ViewedResources;
  readonly actionsFor: ActionsFor;
  readonly answerLarge: AnswerLarge;
  readonly clock: Clock;
}

export function detailRoutes(api: Api, deps: DetailRoutesDeps): void {
  const { details, access, resources, actionsFor, answerLarge, clock } = deps;
  const sees = (context: ApiContext) => (app: AppRef) =>
    context.var.scope.sees(app.kind, app.namespace);

  serve(api, "app", async (context) => {
    const ref = appOf(context);
    resources.requireView(context, ref.kind, ref.namespace);
    const app = details.app(ref);
    if (app === undefined) throw notFound(ref);
    return { ...app, actions: await actionsFor(context, ref, app.suspended) };
  });
  serve(api, "targets", (context) => {
    const ref = appOf(context);
    resources.requireView(context, ref.kind, ref.namespace);
    const { scope } = context.var;
    return answerLarge(context, {
      key: `targets ${keyOfApp(ref)} ${scope.key}`,
      freshness: "current",
      make() {
        const targets = details.targets(ref);
        if (targets === undefined) throw notFound(ref);
        // Clusters that it is deployed to are shown to all who may see the app, others to those who may list them.
        return {
          targets: targets.filter(
            ({ isTarget, state, namespace }) =>
              isTarget || state !== undefined || scope.sees("Cluster", namespace),
          ),
        };
      },
    });
  });
  serve(api, "history", (context) => {
    const ref = appOf(context);
    resources.requireView(context, ref.kind, ref.namespace);
    return answerLarge(context, {
      key: `history ${keyOfApp(ref)}`,
      freshness: "current",
      make() {
        const versions = details.history(ref);
        if (versions === undefined) throw notFound(ref);
        return { versions };
      },
    });
  });
  serve(api, "cluster", (context) => {
    const ref = clusterOf(context);
    resources.requireView(context, "Cluster", ref.namespace);
    const cluster = details.cluster(ref, {
      sees: sees(context),
      seesRollouts: (namespace) => context.var.scope.sees(bundleRollouts.kind, namespace),
      seesSchedules: context.var.scope.sees(schedules.kind, ref.namespace),
      nowMs: clock.now(),
    });
    if (cluster === undefined) throw notFound({ kind: "Cluster", ...ref });
    return { ...cluster, actions: [] };
  });
  serve(api, "release", async (context) => {
    const { cluster, app } = releaseOf(context);
    resources.requireView(context, app.kind, app.namespace);
    const release = details.release(cluster, app);
    if (release === undefined)
      throw notFound({ kind: `${app.kind} ${keyOf(app)} on Cluster`, ...cluster });
    const suspended = details.app(app)?.suspended ?? false;
    const { user } = context.var.session;
    const allowed = await Promise.all(
      requestKinds.map((kind) => access.may(user, requestAttributes(app.namespace, kind))),
    );
    const requests = requestKinds.filter((_, index) => allowed[index]);
    return { ...release, requests, actions: await actionsFor(context, app, suspended) };
  });
  serve(api, "source", async (context) => {
    const { kind, ...ref } = sourceOf(context);
    resources.requireView(context, kind, ref.namespace);
    const source = details.source(kind, ref, sees(context));
    if (source === undefined) throw notFound({ kind, ...ref });
    return { ...source, actions: await actionsFor(context, { kind, ...ref }, source.suspended) };
  });
}

function keyOfApp({ kind, namespace, name }: AppRef): string {
  return `${kind}/${namespace}/${name}`;
}
