/** One app, cluster, release or source, and the actions on it. */

import {
  type Action,
  type ActionRequest,
  type AppRef,
  appKinds,
  type SourceKind,
  sourceKinds,
} from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Access } from "../access/index.ts";
import type { FleetDetails } from "../fleetview/index.ts";
import {
  forbidden as forbiddenRequest,
  parseBody,
  requestAttributes,
  requestKinds,
  type UserRequests,
} from "../requests/index.ts";
import { type ActionTarget, actionsOf, commandOf, patchOf } from "./actions.ts";
import type { Api, ApiContext } from "./context.ts";
import { dashboardErrors } from "./errors.ts";
import type { AnswerLarge } from "./large-answers.ts";
import { serve } from "./respond.ts";
import type { AsUser } from "./user-client.ts";

export interface DetailRoutesDeps {
  readonly details: FleetDetails;
  readonly access: Pick<Access, "may">;
  readonly asUser: AsUser;
  /** By kind. */
  readonly resources: ReadonlyMap<string, Resource<KubeObject>>;
  /** Requests of users to agents. */
  readonly requests: Pick<UserRequests, "answer">;
  readonly events: EventRecorder;
  readonly answerLarge: AnswerLarge;
  readonly clock: Clock;
  readonly log: Log;
}

const fieldManager = "flotilla-dashboard";

export function detailRoutes(api: Api, deps: DetailRoutesDeps): void {
  const { details, access, asUser, events, answerLarge, clock, log } = deps;

  function resourceOf(kind: string): Resource<KubeObject> {
    const resource = deps.resources.get(kind);
    if (resource === undefined) throw invalid(`the kind ${kind} is not shown`);
    return resource;
  }

  /** Throws VIEW_FORBIDDEN. */
  function requireView(context: ApiContext, kind: string, namespace: string): void {
    if (context.var.scope.sees(kind, namespace)) return;
    throw forbidden(`you may not list ${resourceOf(kind).plural} in namespace ${namespace}`);
  }

  async function actionsFor(
    { var: { session } }: ApiContext,
    target: ActionTarget,
    isSuspended: boolean,
  ): Promise<Action[]> {
    const { group, version, plural } = resourceOf(target.kind);
    const { namespace } = target;
    const attributes = { group, version, resource: plural, verb: "patch", namespace };
    const allowed = await access.may(session.user, attributes);
    return actionsOf(target, isSuspended).map((action) => ({
      action,
      allowed,
      ...(!allowed && { reason: `you may not patch ${plural} in namespace ${namespace}` }),
      command: commandOf(action, target),
    }));
  }

  const sees = (context: ApiContext) => (app: AppRef) =>
    context.var.scope.sees(app.kind, app.namespace);

  serve(api, "app", async (context) => {
    const ref = appOf(context, ["kind", "namespace", "name"]);
    requireView(context, ref.kind, ref.namespace);
    const app = details.app(ref);
    if (app === undefined) throw missing(ref);
    return { ...app, actions: await actionsFor(context, ref, app.suspended) };
  });
  serve(api, "targets", (context) => {
    const ref = appOf(context, ["kind", "namespace", "name"]);
    requireView(context, ref.kind, ref.namespace);
    const { scope } = context.var;
    return answerLarge(context, `targets ${keyOfApp(ref)} ${scope.key}`, () => {
      const targets = details.targets(ref);
      if (targets === undefined) throw missing(ref);
      // Clusters that it is deployed to are shown to all who may see the app, others to those who may list them.
      return {
        targets: targets.filter(
          ({ isTarget, state, namespace }) =>
            isTarget || state !== undefined || scope.sees("Cluster", namespace),
        ),
      };
    });
  });
  serve(api, "history", (context) => {
    const ref = appOf(context, ["kind", "namespace", "name"]);
    requireView(context, ref.kind, ref.namespace);
    return answerLarge(context, `history ${keyOfApp(ref)}`, () => {
      const versions = details.history(ref);
      if (versions === undefined) throw missing(ref);
      return { versions };
    });
  });
  serve(api, "cluster", (context) => {
    const ref = clusterOf(context);
    requireView(context, "Cluster", ref.namespace);
    const cluster = details.cluster(ref, sees(context));
    if (cluster === undefined) throw missing({ kind: "Cluster", ...ref });
    return { ...cluster, actions: [] };
  });
  serve(api, "release", async (context) => {
    const [cluster, app] = [
      clusterOf(context),
      appOf(context, ["appKind", "appNamespace", "appName"]),
    ];
    requireView(context, app.kind, app.namespace);
    const release = details.release(cluster, app);
    if (release === undefined)
      throw missing({ kind: `${app.kind} ${keyOf(app)} on Cluster`, ...cluster });
    const suspended = details.app(app)?.suspended ?? false;
    const { user } = context.var.session;
    const allowed = await Promise.all(
      requestKinds.map((kind) => access.may(user, requestAttributes(app.namespace, kind))),
    );
    const requests = requestKinds.filter((_, index) => allowed[index]);
    return { ...release, requests, actions: await actionsFor(context, app, suspended) };
  });
  serve(api, "agentRequest", async (context) => {
    const [cluster, app] = [
      clusterOf(context),
      appOf(context, ["appKind", "appNamespace", "appName"]),
    ];
    requireView(context, app.kind, app.namespace);
    const { user } = context.var.session;
    const body = parseBody(parameter(context, "request"), new URL(context.req.url).searchParams);
    await deps.requests.answer(context.env.outgoing, async () => {
      if (!(await access.may(user, requestAttributes(app.namespace, body.kind))))
        throw forbiddenRequest(user, app.namespace, body.kind);
      const asked = { workspace: app.namespace, kind: app.kind, name: app.name };
      return { username: user.username, asked: { ...asked, cluster: keyOf(cluster), body } };
    });
    return RESPONSE_ALREADY_SENT;
  });
  serve(api, "source", async (context) => {
    const kind = sourceKindOf(parameter(context, "kind"));
    const ref = clusterOf(context);
    requireView(context, kind, ref.namespace);
    const source = details.source(kind, ref, sees(context));
    if (source === undefined) throw missing({ kind, ...ref });
    return { ...source, actions: await actionsFor(context, { kind, ...ref }, source.suspended) };
  });
  serve(api, "act", async (context, request: ActionRequest) => {
    const { action, kind, namespace, name } = request;
    const resource = resourceOf(kind);
    requireView(context, kind, namespace);
    const { credentials, user } = context.var.session;
    const body = patchOf(action, request, formatTimeMs(clock.now()));
    const object = await asUser(credentials, (rest) =>
      rest.patch(resource, { namespace, name }, { type: "merge", body }, { fieldManager }),
    ).catch((thrown: unknown) => {
      throw rejected(thrown, `${action} ${kind} ${namespace}/${name}`);
    });
    const fields = { user: user.username, action, kind, object: `${namespace}/${name}` };
    log.info(fields, "changed by a user of the dashboard");
    events.record(object, {
      ...{ type: "Normal", reason: reasons[action], action: "Dashboard" },
      note: `${texts[action]} by ${user.username} on the dashboard`,
    });
    return undefined;
  });
}

const reasons = {
  poll: "PollRequested",
  reconcile: "ReconcileRequested",
  retry: "RetryRequested",
  force: "ForceRequested",
  suspend: "Suspended",
  resume: "Resumed",
} as const;
const texts = {
  poll: "poll requested",
  reconcile: "reconciliation requested",
  retry: "retry requested",
  force: "forced upgrade requested",
  suspend: "suspended",
  resume: "resumed",
} as const;

function rejected(thrown: unknown, what: string): AppError {
  if (!(thrown instanceof KubeStatusError)) return AppError.from(thrown);
  const message = `${what}: the API server rejects it: ${thrown.serverMessage}`;
  return thrown.status === 403
    ? forbidden(message)
    : new AppError(dashboardErrors.ACTION_FAILED, message);
}

function keyOfApp({ kind, namespace, name }: AppRef): string {
  return `${kind}/${namespace}/${name}`;
}

function parameter(context: ApiContext, name: string): string {
  return context.req.param(name) ?? "";
}

function appOf(
  context: ApiContext,
  [kind, namespace, name]: readonly [string, string, string],
): AppRef {
  const found = appKinds.find((each) => each === parameter(context, kind));
  if (found === undefined)
    throw invalid(`${parameter(context, kind)} is none of ${appKinds.join(", ")}`);
  return {
    kind: found,
    namespace: parameter(context, namespace),
    name: parameter(context, name),
  };
}

function clusterOf(context: ApiContext): { readonly namespace: string; readonly name: string } {
  return { namespace: parameter(context, "namespace"), name: parameter(context, "name") };
}

function sourceKindOf(text: string): SourceKind {
  const kind = sourceKinds.find((each) => each === text);
  if (kind === undefined) throw invalid(`${text} is none of ${sourceKinds.join(", ")}`);
  return kind;
}

function missing({
  kind,
  namespace,
  name,
}: {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}): AppError {
  const message = `there is no ${kind} ${namespace}/${name}`;
  return new AppError(dashboardErrors.VIEW_NOT_FOUND, message);
}

function invalid(message: string): AppError {
  return new AppError(dashboardErrors.VIEW_INVALID, message);
}

function forbidden(message: string): AppError {
  return new AppError(dashboardErrors.VIEW_FORBIDDEN, message);
}
