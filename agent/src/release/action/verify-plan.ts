/** Plans a content once more right before the first change for it, and refuses it if something else would change than was approved. */
import { AppError } from "@flotilla/shared/errors";
import type { PlanResult } from "@flotilla/shared/plan";
import { isAsApproved } from "@flotilla/shared/plan/approved";
import { agentErrors } from "../../base/errors/index.ts";
import type { Attempts, ReleaseAssignment } from "../../state/index.ts";
import type { Action } from "../state/action.ts";
import { mustVerify, staleText } from "../state/plan-verification.ts";
import type { DeployUntil } from "./revision.ts";

/**
 * What Helm would change now for the assigned content. What would fail is a result. Throws what says nothing of the release: that the
 * API server cannot be reached, or that something it refers to is missing yet. `key`: of the digests of masked values.
 */
export type PlanNow = (
  assignment: ReleaseAssignment,
  key: Uint8Array,
  signal: AbortSignal,
) => Promise<PlanResult>;

export interface VerifyDeps {
  readonly planNow: PlanNow;
  readonly attempts: Pick<Attempts, "isVerified">;
}

/** Something else would change than was approved. Nothing was changed. */
export class PlanStaleError extends AppError {
  /** When it was promoted: `at` of the verification. */
  readonly at: string;

  constructor(message: string, at: string) {
    super(agentErrors.PLAN_STALE, message);
    this.at = at;
  }
}

/** Throws PLAN_STALE, and what `PlanNow` throws: then nothing is changed either, and it is tried again. */
export async function verifyPlan(
  { planNow, attempts }: VerifyDeps,
  { action, assignment }: { readonly action: Action; readonly assignment: ReleaseAssignment },
  { signal, superseded, withoutWorker }: DeployUntil,
): Promise<void> {
  const { owner, verification } = assignment;
  if (verification === undefined || !mustVerify(action)) return;
  if (attempts.isVerified(owner.id, verification)) return;
  const until = AbortSignal.any([signal, superseded]);
  const result = await withoutWorker(() => planNow(assignment, verification.key, until));
  if (isAsApproved(verification.diff, result)) return;
  throw new PlanStaleError(staleText(verification, result), verification.at);
}
