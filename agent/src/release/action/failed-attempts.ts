/** Counts failed attempts at a content in the inventory, so that remediation goes on after a restart. */

import { AppError } from "@flotilla/shared/errors";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { cutText } from "@flotilla/shared/text";
import { agentErrors } from "../../base/errors/index.ts";
import type { Attempts, FailedAttempts } from "../../state/index.ts";
import {
  type AttemptedAction,
  type FailurePolicy,
  failuresOf,
  isExhausted,
} from "../state/failure-policy.ts";

/** The part of the inventory that this uses. */
export type AttemptStore = Pick<Attempts, "failedAttemptsOf" | "setFailedAttempts">;

/** What is attempted: attempts at something else do not count. */
export interface Attempted {
  /** The id of the release. */
  readonly id: string;
  readonly deploymentId: string;
  /** The release digest. */
  readonly digest: string;
}

export interface FailedAttempt {
  readonly action: AttemptedAction;
  readonly reason: FailedAttempts["reason"];
  readonly error: AppError;
}

/** A failure with the time of its retry. */
export class RetryError extends AppError {
  readonly delayMs: number;

  constructor(error: AppError, delayMs: number) {
    super(agentErrors.HELM_FAILED, error.message, { cause: error });
    this.delayMs = delayMs;
  }
}

/** The limit of a message in the inventory. */
const maxMessage = 1_000;

/** The attempts at this content that have failed in a row. */
export function failedAttemptsAt(
  attempts: Pick<Attempts, "failedAttemptsOf">,
  { id, deploymentId, digest }: Attempted,
): FailedAttempts | undefined {
  const known = attempts.failedAttemptsOf(id);
  return known?.deploymentId === deploymentId && known.digest === digest ? known : undefined;
}

export async function countFailure(
  attempts: AttemptStore,
  attempted: Attempted,
  failure: FailedAttempt,
): Promise<FailedAttempts> {
  return await enter(attempts, attempted, failure, 1);
}

/** For an attempt that has changed nothing of the release, as in Flux: there is nothing to remediate, and it can be repeated. */
export async function noteFailure(
  attempts: AttemptStore,
  attempted: Attempted,
  failure: FailedAttempt,
): Promise<void> {
  await enter(attempts, attempted, failure, 0);
}

async function enter(
  attempts: AttemptStore,
  attempted: Attempted,
  { action, reason, error }: FailedAttempt,
  counts: 0 | 1,
): Promise<FailedAttempts> {
  const { id, deploymentId, digest } = attempted;
  const before = failedAttemptsAt(attempts, attempted);
  const countOf = (each: AttemptedAction) =>
    failuresOf(before, each) + (each === action ? counts : 0);
  const failed: FailedAttempts = {
    deploymentId,
    digest,
    action,
    reason,
    count: (before?.count ?? 0) + counts,
    counts: { install: countOf("install"), upgrade: countOf("upgrade") },
    message: cutText(error.message, maxMessage),
    code: error.code,
  };
  await attempts.setFailedAttempts(id, failed);
  return failed;
}

/** Records the result of the remediation of the last failure. `error`: it failed. `more`: the continuation of its message. */
export async function recordRemediation(
  attempts: AttemptStore,
  attempted: Attempted,
  by: "rollback" | "uninstall",
  { error, more = "" }: { readonly error?: AppError; readonly more?: string } = {},
): Promise<void> {
  const failed = failedAttemptsAt(attempts, attempted);
  if (failed === undefined) return;
  const remediation = {
    by,
    ...(error !== undefined && { error: cutText(error.message, maxMessage) }),
    ...(more !== "" && { more: cutText(more, maxMessage) }),
  };
  await attempts.setFailedAttempts(attempted.id, { ...failed, remediation });
}

/** What is reported when nothing more is tried. */
export function stopError(
  why: (typeof fluxReason)["retriesExceeded" | "missingRollbackTarget"],
  failed: FailedAttempts | undefined,
): AppError {
  const last = failed === undefined ? "" : `: ${failed.message}${remediated(failed)}`;
  return why === fluxReason.retriesExceeded
    ? new AppError(
        agentErrors.RETRIES_EXCEEDED,
        `${attemptsText(failed)} failed, and no retries are left${last}`,
      )
    : new AppError(
        agentErrors.ROLLBACK_TARGET_MISSING,
        `${attemptsText(failed)} failed, and there is no earlier revision to roll back to${last}`,
      );
}

/** For messages: what happened to what the failed attempt has left. */
export function remediated({ remediation }: FailedAttempts): string {
  if (remediation === undefined) return "";
  const { by, error, more = "" } = remediation;
  if (error !== undefined) return `; ${by} failed: ${error}`;
  return `; it was ${by === "rollback" ? "rolled back" : "uninstalled"}${more}`;
}

function attemptsText(failed: FailedAttempts | undefined): string {
  const count = failed === undefined ? 1 : failuresOf(failed, failed.action);
  const what = failed?.action === "install" ? "installation" : "upgrade";
  return count === 1 ? `the ${what}` : `${count} attempts of the ${what}`;
}

/** Whether the release fails only because its objects were not ready in time: it is retried when they are. */
export function canBecomeReady(failed: FailedAttempts | undefined): boolean {
  return failed?.code === agentErrors.RELEASE_NOT_READY.code && failed.remediation === undefined;
}

/** Whether no retries are left for an action. */
export function isLast(
  policies: Readonly<Record<AttemptedAction, FailurePolicy>>,
  failed: FailedAttempts | undefined,
  next: AttemptedAction,
): boolean {
  const count = failuresOf(failed, next);
  return count > 0 && isExhausted(policies[next], count);
}
