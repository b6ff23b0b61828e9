/** The staged rollouts of apps: what is shown of them, and decisions and commands as the user. */
import {
  type BundleRollout,
  bundleRollouts,
  type Gate,
  type GateDecision,
  gates,
} from "@flotilla/shared/api/rollout";
import type {
  Rollout,
  RolloutAction,
  RolloutActionName,
  RolloutActionRequest,
} from "@flotilla/shared/dashboard";
import { isConflict, type KubeRest } from "@flotilla/shared/kube/client";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import type { Access } from "../access/cached-access.ts";
import type { FleetDetails, RollbackCounts } from "../fleetview/index.ts";
import { failed, fieldManager, rejected } from "./action-routes.ts";
import type { Api, ApiContext } from "./context.ts";
import { notFound } from "./errors.ts";
import { appOf } from "./parameters.ts";
import { serve } from "./respond.ts";
import {
  commandEffect,
  commandPatch,
  commandsOf,
  decisionEffect,
  decisionsOf,
  isGateAction,
  rightsFor,
  rightText,
  rolloutCommand,
  whyNoRollback,
} from "./rollout-actions.ts";
import type { AsUser } from "./user-client.ts";
import type { ViewedResources } from "./viewed-resources.ts";

export interface RolloutRoutesDeps {
  readonly details: Pick<FleetDetails, "rollouts">;
  readonly access: Pick<Access, "may">;
  readonly resources: ViewedResources;
  readonly asUser: AsUser;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/** The leader writes the object about once a second while clusters are promoted. */
const maxConflicts = 5;

export function rolloutRoutes(api: Api, deps: RolloutRoutesDeps): void {
  const { details, access, resources, asUser, events, clock, log } = deps;

  serve(api, "rollouts", async (context) => {
    const ref = appOf(context);
    resources.requireView(context, ref.kind, ref.namespace);
    resources.requireView(context, bundleRollouts.kind, ref.namespace);
    const { scope } = context.var;
    const seen = {
      gates: scope.sees(gates.kind, ref.namespace),
      schedules: scope.sees("Schedule", ref.namespace),
    };
    const found = details.rollouts(ref, seen, clock.now());
    if (found === undefined) throw notFound(ref);
    const { current, rollout, counts, history } = found;
    if (current === undefined || rollout === undefined) return { history };
    return {
      current: await withActions(context, { current, rollout, counts }),
      history,
    };
  });

  async function withActions(
    context: ApiContext,
    shown: {
      readonly current: Omit<Rollout, "actions">;
      readonly rollout: BundleRollout;
      readonly counts: RollbackCounts;
    },
  ): Promise<Rollout> {
    const { current, rollout, counts } = shown;
    const { namespace = "" } = rollout.metadata;
    const of = { app: rollout.spec.app, namespace };
    const actions = commandsOf(rollout).map(async (action): Promise<RolloutAction> => {
      const reason =
        whyNoRollback(action, counts) ?? (await missingRight(context, action, namespace));
      const effect = commandEffect(action, current, counts);
      return actionOf({ action, effect, command: rolloutCommand(action, of) }, reason);
    });
    const stages = current.stages.map(async (stage) => ({
      ...stage,
      gates: await Promise.all(
        stage.gates.map(async (gate) => ({
          ...gate,
          actions: await Promise.all(
            decisionsOf(gate, current.phase).map(async (action): Promise<RolloutAction> => {
              const named = { stage: stage.name, gate: gate.gate ?? "", digest: gate.digest ?? "" };
              const effect = decisionEffect(action, stage.name, gate);
              const command = rolloutCommand(action, of, named);
              const reason = await missingRight(context, action, namespace);
              return actionOf({ action, effect, command }, reason);
            }),
          ),
        })),
      ),
    }));
    return { ...current, actions: await Promise.all(actions), stages: await Promise.all(stages) };
  }

  /** The first right that the user does not have, as a sentence. */
  async function missingRight(
    { var: { session } }: ApiContext,
    action: RolloutActionName,
    namespace: string,
  ): Promise<string | undefined> {
    const { group, version } = bundleRollouts;
    const rights = rightsFor(action);
    const allowed = await Promise.all(
      rights.map((right) => access.may(session.user, { group, version, ...right, namespace })),
    );
    const missing = rights.find((_, index) => allowed[index] !== true);
    return missing && rightText(missing, namespace);
  }

  serve(api, "actOnRollout", async (context, request: RolloutActionRequest) => {
    const { action, namespace, rollout } = request;
    resources.requireView(context, bundleRollouts.kind, namespace);
    const { credentials, user } = context.var.session;
    const what = `${action} BundleRollout ${namespace}/${rollout}`;
    const object = await asUser(
      credentials,
      async (rest): Promise<KubeObject> =>
        isGateAction(action)
          ? await decide(rest, request, user.username)
          : await command(rest, request),
    ).catch((thrown: unknown) => {
      throw rejected(thrown, what);
    });
    const { name } = object.metadata;
    log.info(
      { user: user.username, action, kind: object.kind, object: `${namespace}/${name}` },
      "changed by a user of the dashboard",
    );
    events.record(object, {
      type: "Normal",
      reason: reasons[action],
      action: "Dashboard",
      note: `${texts[action]} by ${user.username} on the dashboard`,
    });
    return undefined;
  });

  /** Decided by the object as the API server has it, so that what is written follows from what was there. */
  async function command(rest: KubeRest, request: RolloutActionRequest): Promise<BundleRollout> {
    const { action, namespace, rollout: name, uid } = request;
    const ref = { namespace, name };
    if (isGateAction(action)) throw failed(`${action}: a decision is about a Gate`);
    for (let attempt = 1; ; attempt += 1) {
      const found = await rest.get(bundleRollouts, ref);
      if (found === undefined || found.metadata.uid !== uid)
        throw notFound({ kind: bundleRollouts.kind, ...ref });
      if (!commandsOf(found).includes(action))
        throw failed(
          `${action} BundleRollout ${namespace}/${name}: it is ${found.status?.phase ?? "Progressing"}, with spec.state ${found.spec.state ?? "Running"}, and has no such action now`,
        );
      const body = commandPatch(action, found, formatTimeMs(clock.now()));
      try {
        return await rest.patch(bundleRollouts, ref, { type: "merge", body }, { fieldManager });
      } catch (thrown) {
        if (!isConflict(thrown) || attempt === maxConflicts) throw thrown;
      }
    }
  }

  /** The API server compares the name and the digest, and allows one decision. */
  async function decide(
    rest: KubeRest,
    { action, namespace, gate, message }: RolloutActionRequest,
    by: string,
  ): Promise<Gate> {
    if (gate === undefined) throw failed(`${action}: the request names no Gate`);
    const { name, uid, digest } = gate;
    const decision: GateDecision = {
      result: action === "approve" || action === "pass" ? "Passed" : "Failed",
      by,
      digest,
      ...(message !== undefined && message !== "" && { message }),
    };
    const body = { metadata: { uid }, status: { decision } };
    const options = { subresource: "status", fieldManager } as const;
    return await rest.patch(gates, { namespace, name }, { type: "merge", body }, options);
  }
}

function actionOf(
  action: Pick<RolloutAction, "action" | "effect" | "command">,
  reason: string | undefined,
): RolloutAction {
  return { ...action, allowed: reason === undefined, ...(reason !== undefined && { reason }) };
}

const reasons: Readonly<Record<RolloutActionName, string>> = {
  halt: "HaltRequested",
  resume: "ResumeRequested",
  rollback: "RollbackRequested",
  cancel: "CancelRequested",
  approve: "Approved",
  reject: "Rejected",
  pass: "GatePassed",
  fail: "GateFailed",
};
const texts: Readonly<Record<RolloutActionName, string>> = {
  halt: "halt requested",
  resume: "resume requested",
  rollback: "rollback requested",
  cancel: "cancellation requested",
  approve: "approved",
  reject: "rejected",
  pass: "passed",
  fail: "failed",
};
