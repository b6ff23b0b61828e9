/** What follows an action that failed: another attempt, a rollback or an uninstall. */

import { AppError } from "@flotilla/shared/errors";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { agentErrors } from "../../base/errors/index.ts";
import {
  countFailure,
  type FailedAttempt,
  failedAttemptsAt,
  isLast,
  RetryError,
  recordRemediation,
  stopError,
} from "./failed-attempts.ts";
import { attemptedOf, type DesiredRelease, policiesOf, type Tools } from "./tools.ts";

/**
 * Counts a failed attempt in what the agent stores, so that a crash does not forget it. Throws its error where nothing is to be
 * remediated, and a RetryError where it is attempted again after an interval. Undefined: what it has left is remediated next.
 */
export async function settleFailedAttempt(
  { attempts }: Tools,
  release: DesiredRelease,
  failure: FailedAttempt,
): Promise<undefined> {
  const policy = policiesOf(release.content)[failure.action];
  const failed = await countFailure(attempts, attemptedOf(release), failure);
  if (policy.kind === "retry") {
    if (policy.intervalMs === undefined) throw failure.error;
    throw new RetryError(failure.error, policy.intervalMs);
  }
  const isIgnored = failure.reason === fluxReason.testFailed && policy.ignoresTests;
  if (isIgnored || failed.count === 0) throw failure.error;
  return undefined;
}

/**
 * A new attempt, if any is left, follows after the time that follows every failure. `run` returns the continuation of the message, if it
 * has one.
 */
export async function remediate(
  { attempts }: Tools,
  release: DesiredRelease,
  by: "rollback" | "uninstall",
  run: () => Promise<string>,
): Promise<never> {
  const attempted = attemptedOf(release);
  let more: string;
  try {
    more = await run();
  } catch (thrown) {
    const error = AppError.from(thrown);
    await recordRemediation(attempts, attempted, by, { error });
    const failed = failedAttemptsAt(attempts, attempted);
    const cause = failed === undefined ? "" : ` after: ${failed.message}`;
    throw new AppError(agentErrors.HELM_FAILED, `${error.message}${cause}`, { cause: thrown });
  }
  await recordRemediation(attempts, attempted, by, { more });
  const failed = failedAttemptsAt(attempts, attempted);
  // What was uninstalled is installed next, however often the upgrade may be retried.
  const next = by === "uninstall" ? "install" : "upgrade";
  if (isLast(policiesOf(release.content), failed, next))
    throw stopError(fluxReason.retriesExceeded, failed);
  throw new AppError(
    agentErrors.HELM_FAILED,
    `${failed?.message ?? "the release failed"}; it was ${by === "rollback" ? "rolled back" : "uninstalled"}${more}`,
  );
}
