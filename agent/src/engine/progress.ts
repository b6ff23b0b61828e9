/** How far a deployment has come, and what a failure means for what happens next. Pure. */
import type { DeploymentState } from "@flotilla/proto/messages.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { agentErrors } from "../errors.ts";
import type { Outcome } from "../report/compose-state.ts";

export interface Progress {
  outcome: Outcome;
  /** Of the content that failed last. */
  failure?: { readonly deploymentId: string; readonly count: number; readonly retryAtMs: number };
  /** What is followed, so that the same is not parsed again. */
  followed?: string;
  reported?: DeploymentState;
}

/** Failures that another service account may put an end to. */
export const decidedByAccount = [
  agentErrors.SERVICE_ACCOUNT_MISSING,
  agentErrors.TEMPLATES_REFUSED,
];

/** What fails in the same way until something changes that is followed. */
const sameUntilChanged = [agentErrors.SUPPLY_MISSING, agentErrors.VALUES_TEMPLATE_FAILED];

/**
 * What comes of a failure after which nothing is tried again by itself, since what is lacking has the deployment looked at
 * anew; undefined for all others.
 */
export function outcomeUntilChanged(thrown: unknown, deploymentId: string): Outcome | undefined {
  const { code, message } = AppError.from(thrown);
  if (code === agentErrors.SUPPLY_AWAITED.code) return { kind: "pending", message };
  return sameUntilChanged.some((kind) => kind.code === code)
    ? { kind: "failed", deploymentId, message, code }
    : undefined;
}

export function isFailedBy(
  { outcome }: Progress,
  errors: readonly { readonly code: string }[],
): boolean {
  return (
    (outcome.kind === "failed" || outcome.kind === "withdrawing") &&
    errors.some(({ code }) => code === outcome.code)
  );
}
