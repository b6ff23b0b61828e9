/** What users see of an object that is accepted or not: its conditions, and when a failure is shown. Pure. */
import type { Condition } from "@flotilla/shared/api";
import type { NewCondition } from "@flotilla/shared/conditions";
import { type AppError, commonErrors } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";

/** Status, reason and message of a condition, without its type. */
export type ConditionState = Required<Pick<Condition, "status">> & {
  readonly reason: string;
  readonly message: string;
};

/** The reason of Accepted while a chart reference has no pin: Fleet's. Programs here decide by codes of errors. */
export const chartNotResolved = "Error";

/** The reason of Accepted while a Policy forbids the object. */
export const policyViolation = "PolicyViolation";

const reasons: ReadonlyMap<string, string> = new Map([
  [hubErrors.HELMOP_INVALID.code, "Invalid"],
  [hubErrors.BUNDLE_NOT_DEPLOYABLE.code, "Invalid"],
  [hubErrors.ROLLOUT_GATES_CIRCULAR.code, "Invalid"],
  [hubErrors.BUNDLE_NAME_TAKEN.code, "NameTaken"],
  [hubErrors.POLICY_VIOLATION.code, policyViolation],
  [commonErrors.CANCELLED.code, "Cancelled"],
]);

/** Accepted=False for an error. Where the chart cannot be resolved, the reason is Fleet's `Error`: its users wait for that word. */
export function notAccepted(
  error: AppError,
  remarks: readonly string[] = [],
): NewCondition & ConditionState {
  return {
    type: "Accepted",
    status: "False",
    reason: reasons.get(error.code) ?? chartNotResolved,
    message: [error.message, ...remarks].join("; "),
  };
}

/** Whether a condition has this status and reason for this generation. */
export function holds(
  condition: Condition | undefined,
  { status, reason, generation }: Pick<Condition, "status" | "reason"> & { generation: number },
): boolean {
  return (
    condition?.status === status &&
    (reason === undefined || condition.reason === reason) &&
    condition.observedGeneration === generation
  );
}

/**
 * Whether an error is to be shown in the status. If the spec was accepted before, a failed read is shown only after
 * about five seconds of retries: a new leader must not set Accepted to False because of a short outage.
 */
export function isWorthPublishing(
  error: AppError,
  { isAccepted, retries }: { readonly isAccepted: boolean; readonly retries: number },
): boolean {
  return !error.retryable || !isAccepted || retries >= retriesBeforePublishing;
}

/** The work queue's backoff starts with 5 ms and doubles: together about five seconds. */
const retriesBeforePublishing = 10;
