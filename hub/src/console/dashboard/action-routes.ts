/** Actions on apps and sources: which of them are offered, and making their change as the user. */

import { isAppKind } from "@flotilla/shared/api/apps";
import type { Action, ActionRequest } from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import type { Access } from "../access/cached-access.ts";
import type { FleetDetails } from "../fleetview/index.ts";
import {
  type ActionState,
  type ActionTarget,
  actionsOf,
  commandOf,
  patchOf,
  whyNotOffered,
  whyWithoutEffect,
} from "./actions.ts";
import type { Api, ApiContext } from "./context.ts";
import { forbidden, notFound } from "./errors.ts";
import { serve } from "./respond.ts";
import type { AsUser } from "./user-client.ts";
import type { ViewedResources } from "./viewed-resources.ts";

export interface ActionRoutesDeps {
  readonly details: Pick<FleetDetails, "app" | "source" | "hasDrift" | "isPolled">;
  readonly access: Pick<Access, "may">;
  readonly resources: ViewedResources;
  readonly asUser: AsUser;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/** The actions that an object offers now. */
export type ActionsFor = (
  context: ApiContext,
  target: ActionTarget,
  isSuspended: boolean,
) => Promise<Action[]>;

/** The field manager of what users change. */
export const fieldManager = "flotilla-dashboard";

export function actionRoutes(api: Api, deps: ActionRoutesDeps): ActionsFor {
  const { details, access, resources, asUser, events, clock, log } = deps;

  function stateOf(target: ActionTarget, isSuspended: boolean): ActionState {
    const { kind, namespace, name } = target;
    return {
      isSuspended,
      isPolled: isAppKind(kind) && details.isPolled({ kind, namespace, name }),
    };
  }

  /** Undefined if there is no such object. */
  function isSuspended({ kind, namespace, name }: ActionTarget): boolean | undefined {
    const ref = { namespace, name };
    return isAppKind(kind)
      ? details.app({ kind, ...ref })?.suspended
      : details.source(kind, ref, () => false)?.suspended;
  }

  serve(api, "act", async (context, request: ActionRequest) => {
    const { action, kind, namespace, name } = request;
    const resource = resources.of(kind);
    resources.requireView(context, kind, namespace);
    const suspended = isSuspended(request);
    if (suspended === undefined) throw notFound(request);
    const what = `${action} ${kind} ${namespace}/${name}`;
    const why = whyNotOffered(action, request, stateOf(request, suspended));
    if (why !== undefined) throw failed(`${what}: ${why}`);
    const { credentials, user } = context.var.session;
    const body = patchOf(action, request, formatTimeMs(clock.now()));
    const object = await asUser(credentials, (rest) =>
      rest.patch(resource, { namespace, name }, { type: "merge", body }, { fieldManager }),
    ).catch((thrown: unknown) => {
      throw rejected(thrown, what);
    });
    const fields = { user: user.username, action, kind, object: `${namespace}/${name}` };
    log.info(fields, "changed by a user of the dashboard");
    events.record(object, {
      type: "Normal",
      reason: reasons[action],
      action: "Dashboard",
      note: `${texts[action]} by ${user.username} on the dashboard`,
    });
    return undefined;
  });

  return async function actionsFor({ var: { session } }, target, suspended) {
    const { group, version, plural } = resources.of(target.kind);
    const { namespace } = target;
    const attributes = { group, version, resource: plural, verb: "patch", namespace };
    const isAllowed = await access.may(session.user, attributes);
    const { kind, name } = target;
    const hasDrift = isAppKind(kind) && details.hasDrift({ kind, namespace, name });
    return actionsOf(target, stateOf(target, suspended)).map((action) => {
      const reason = isAllowed
        ? whyWithoutEffect(action, { hasDrift })
        : `you may not patch ${plural} in namespace ${namespace}`;
      const command = commandOf(action, target);
      return {
        action,
        allowed: reason === undefined,
        ...(reason !== undefined && { reason }),
        command,
      };
    });
  };
}

const reasons = {
  poll: "PollRequested",
  reconcile: "ReconcileRequested",
  "correct-drift": "CorrectDriftRequested",
  retry: "RetryRequested",
  force: "ForceRequested",
  suspend: "Suspended",
  resume: "Resumed",
} as const;
const texts = {
  poll: "poll requested",
  reconcile: "reconciliation requested",
  "correct-drift": "correction of drift requested",
  retry: "retry requested",
  force: "forced upgrade requested",
  suspend: "suspended",
  resume: "resumed",
} as const;

/** What the API server has answered, for the user. */
export function rejected(thrown: unknown, what: string): AppError {
  if (!(thrown instanceof KubeStatusError)) return AppError.from(thrown);
  const message = `${what}: the API server rejects it: ${thrown.serverMessage}`;
  return thrown.status === 403 ? forbidden(message) : failed(message);
}

/** A change that has no effect, or that cannot be made. */
export function failed(message: string): AppError {
  return new AppError(hubErrors.ACTION_FAILED, message);
}
