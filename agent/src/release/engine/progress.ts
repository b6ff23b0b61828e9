/** The progress of a release, and what a failure means for the next reconcile. Pure. */

import { backoffDelayMs } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import type { DeploymentResult } from "../../observe/index.ts";
import { RetryError } from "../action/failed-attempts.ts";
import { PlanStaleError } from "../action/verify-plan.ts";
import type { Running } from "./running.ts";

export interface Progress {
  result: DeploymentResult;
  /** Why the content failed that failed last. */
  failure?: Failure;
  /** What made the release fail may have changed: the next reconcile begins with no failed attempts counted. */
  startsOver?: true;
  /** What the pass in progress does. */
  running?: Running;
  /** Identifies the objects that are tracked. */
  tracked?: string;
}

/** Why the content of a release could not be applied. */
export interface Failure {
  readonly deploymentId: string;
  /** In a row, since nothing was retried any more. */
  readonly count: number;
  readonly retryAtMs: number;
  /** There are no retries left: the next reconcile at that time begins with none counted. */
  readonly isStop?: true;
  /** How often there were none left. */
  readonly stops?: number;
}

/** The failure after another one. Attempts that are counted before a stop do not make the wait after it longer. */
export function countFailure(
  before: Failure | undefined,
  thrown: unknown,
): { readonly failed: Omit<Failure, "deploymentId" | "retryAtMs">; readonly inRow: number } {
  const { stops = 0 } = before ?? {};
  if (isStop(thrown)) {
    const inRow = stops + 1;
    return { failed: { count: before?.count ?? 0, isStop: true, stops: inRow }, inRow };
  }
  const inRow = (before?.isStop ? 0 : (before?.count ?? 0)) + 1;
  return { failed: { count: inRow, ...(stops > 0 && { stops }) }, inRow };
}

/** Failures that another service account can resolve. */
export const accountFailures = [agentErrors.SERVICE_ACCOUNT_MISSING, agentErrors.TEMPLATES_DENIED];

/** Failures that persist until something changes that the agent watches. */
const unchangedFailures = [
  agentErrors.REFERENCED_OBJECT_NOT_FOUND,
  agentErrors.VALUES_TEMPLATE_FAILED,
  agentErrors.RELEASE_LOCKED,
  agentErrors.RELEASE_EXISTS,
  agentErrors.RELEASE_NOT_OURS,
  agentErrors.SERVICE_ACCOUNT_REQUIRED,
  agentErrors.INVALID_CEL_EXPRESSION,
];

/** The result of a failure that is not retried before a change; undefined for all others. */
export function resultUntilChange(
  thrown: unknown,
  deploymentId: string,
): DeploymentResult | undefined {
  const { code, message } = AppError.from(thrown);
  if (code === agentErrors.REFERENCED_OBJECT_PENDING.code) return { kind: "pending", message };
  if (thrown instanceof PlanStaleError)
    return { kind: "failed", deploymentId, message, code, refusedAt: thrown.at };
  return unchangedFailures.some((kind) => kind.code === code)
    ? { kind: "failed", deploymentId, message, code }
    : undefined;
}

/** Failures after which there are no retries left. */
export const stopFailures = [agentErrors.RETRIES_EXCEEDED, agentErrors.ROLLBACK_TARGET_MISSING];

export function hasFailedBy(
  { result }: Progress,
  errors: readonly { readonly code: string }[],
): boolean {
  return (
    (result.kind === "failed" || result.kind === "withdrawing") &&
    errors.some(({ code }) => code === result.code)
  );
}

const retryBackoff = { firstMs: 5_000, longestMs: 5 * 60_000 };

/** Nobody may be there to request it, and what caused the failure may be outside of the cluster. */
const stopBackoff = { firstMs: 60 * 60_000, longestMs: 24 * 60 * 60_000 };

/** `failures`: in a row. */
export function retryDelayMs(failures: number, thrown?: unknown): number {
  if (thrown instanceof RetryError) return thrown.delayMs;
  return backoffDelayMs(isStop(thrown) ? stopBackoff : retryBackoff, failures);
}

/** Whether there are no retries left. */
export function isStop(thrown: unknown): boolean {
  return thrown instanceof AppError && stopFailures.some((kind) => kind.code === thrown.code);
}

/**
 * How long an uninstall that has failed is not repeated. Helm changes the record of the release also when it fails, which enqueues the
 * deployment at once.
 */
export function untilRepeatedMs(
  { result, failure }: Progress,
  deploymentId: string,
  nowMs: number,
): number {
  const hasFailed = result.kind === "withdrawing" && result.code === agentErrors.HELM_FAILED.code;
  if (!hasFailed || failure?.deploymentId !== deploymentId) return 0;
  return Math.max(0, failure.retryAtMs - nowMs);
}
