/** Tells of a violation as an event: once for each generation and violation, also when the hub has started anew since. */
import type { Condition } from "@flotilla/shared/api/condition.ts";
import type { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events/events.ts";
import type { KubeObject } from "@flotilla/shared/kube/objects/object.ts";
import { hubErrors } from "../errors.ts";

/** What was said of the object last. */
export interface Told {
  readonly generation: number;
  /** Begins with the refusal, where there was one. */
  readonly message: string;
}

/** Nothing where the refusal is another. `told`: from memory; `condition`: what the status says where nothing is remembered. */
export function reportViolation(
  events: EventRecorder,
  object: KubeObject,
  { code, message }: AppError,
  {
    told,
    condition,
  }: { readonly told: Told | undefined; readonly condition: Condition | undefined },
): void {
  if (code !== hubErrors.POLICY_VIOLATION.code) return;
  const last = told ?? toldBy(condition);
  if (last?.generation === object.metadata.generation && last?.message.startsWith(message)) return;
  events.record(object, {
    type: "Warning",
    reason: "PolicyViolation",
    action: "ApplyPolicyRestrictions",
    note: message,
  });
}

function toldBy(condition: Condition | undefined): Told | undefined {
  return condition?.status === "False"
    ? { generation: condition.observedGeneration ?? 0, message: condition.message ?? "" }
    : undefined;
}
