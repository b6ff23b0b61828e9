/** Records violations of a Policy as events. */
import type { Condition } from "@flotilla/shared/api";
import type { AppError } from "@flotilla/shared/errors";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { hubErrors } from "../../base/index.ts";
import { holds, policyViolation } from "../frontend/accepted.ts";

/** Once for each generation, also after a change of leader. `accepted`: the condition before. Other errors have no event. */
export function recordViolation(
  events: EventRecorder,
  object: KubeObject,
  accepted: Condition | undefined,
  { code, message }: AppError,
): void {
  if (code !== hubErrors.POLICY_VIOLATION.code) return;
  const generation = object.metadata.generation ?? 0;
  if (holds(accepted, { status: "False", reason: policyViolation, generation })) return;
  events.record(object, {
    type: "Warning",
    reason: "PolicyViolation",
    action: "ApplyPolicyRestrictions",
    note: message,
  });
}
