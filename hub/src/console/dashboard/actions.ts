/** What a user may change from the dashboard: each action is one patch, and has a command that does the same. Pure. */
import { appDefinition, isAppKind, takesRequest } from "@flotilla/shared/api/apps";
import { pollRequestAnnotation, requestAnnotations } from "@flotilla/shared/api/names";
import type { ActionName, ActionRequest } from "@flotilla/shared/dashboard";

export type ActionTarget = Pick<ActionRequest, "kind" | "namespace" | "name">;

/** What decides which actions have an effect. */
export interface ActionState {
  readonly isSuspended: boolean;
  /** Whether the source of an app is polled. */
  readonly isPolled: boolean;
}

/** The actions that have an effect, those that are used most first: on a suspended object none has until it is resumed. */
export function actionsOf(
  { kind }: ActionTarget,
  { isSuspended, isPolled }: ActionState,
): readonly ActionName[] {
  if (isSuspended) return ["resume"];
  if (!isAppKind(kind)) return ["poll", "suspend"];
  const { requests } = appDefinition(kind);
  return [...requests.filter((request) => request !== "poll" || isPolled), "suspend"];
}

/** Whether it is an app that can be polled and reconciled separately; a source is only read. */
function isPolledApp(kind: ActionTarget["kind"]): boolean {
  return isAppKind(kind) && takesRequest(kind, "poll");
}

/** Why the action has no effect; undefined if it has one. */
export function whyNotOffered(
  action: ActionName,
  target: ActionTarget,
  state: ActionState,
): string | undefined {
  if (actionsOf(target, state).includes(action)) return undefined;
  if (state.isSuspended)
    return action === "suspend" ? "it is suspended already" : "it is suspended; resume it first";
  if (action === "resume") return "it is not suspended";
  return isPolledApp(target.kind)
    ? "it is not polled: it has no pollingInterval, or no other version can match; reconcile it instead"
    : `a ${target.kind} has no such action`;
}

/** Why an action that is offered would change nothing now; undefined if it may. */
export function whyWithoutEffect(
  action: ActionName,
  { hasDrift }: { readonly hasDrift: boolean },
): string | undefined {
  return action === "correct-drift" && !hasDrift
    ? "no drift was found in the objects of its releases"
    : undefined;
}

/** A merge patch. `now`: RFC 3339; each request has another one. */
export function patchOf(action: ActionName, { kind }: ActionTarget, now: string): unknown {
  switch (action) {
    case "poll":
      return annotations(
        isPolledApp(kind)
          ? { [pollRequestAnnotation]: now }
          : requestAnnotations({ requestedAt: now }),
      );
    case "reconcile":
      return annotations(requestAnnotations({ requestedAt: now }));
    case "correct-drift":
      return annotations(requestAnnotations({ requestedAt: now, correctDriftAt: now }));
    case "retry":
      return annotations(requestAnnotations({ requestedAt: now, resetAt: now }));
    case "force":
      return annotations(requestAnnotations({ requestedAt: now, forceAt: now }));
    case "suspend":
      return { spec: { suspend: true } };
    case "resume":
      return { spec: { suspend: false } };
  }
}

function annotations(added: Readonly<Record<string, string>>) {
  return { metadata: { annotations: added } };
}

/** The command that does the same. */
export function commandOf(action: ActionName, { kind, namespace, name }: ActionTarget): string {
  const verb = action === "suspend" || action === "resume" ? action : "reconcile";
  return `flotilla ${verb} ${kind.toLowerCase()} ${name} -n ${namespace}${flagOf(action, kind)}`;
}

function flagOf(action: ActionName, kind: ActionTarget["kind"]): string {
  switch (action) {
    case "correct-drift":
      return " --correct-drift";
    case "retry":
      return " --reset";
    case "force":
      return " --force";
    case "poll":
      return isPolledApp(kind) ? " --poll" : "";
    default:
      return "";
  }
}
