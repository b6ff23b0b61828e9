/**
 * The action `await`: a release becomes ready, or fails at the end of its timeout. No worker and no process waits meanwhile: it is
 * reconciled again when its objects change, and at the deadline.
 */

import { AppError } from "@flotilla/shared/errors";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { agentErrors } from "../../base/errors/index.ts";
import { type ReleaseKey, rollbackOptions, upgradeOptions } from "../../helm/index.ts";
import type { Readiness } from "../../observe/index.ts";
import type { Action } from "../state/action.ts";
import type { AttemptedAction } from "../state/failure-policy.ts";
import type { DeployPass, DeployResult, InSync } from "./deploy-pass.ts";
import { failedAttemptsAt, recordRemediation, remediated } from "./failed-attempts.ts";
import { disownChanged, inSync } from "./in-sync.ts";
import { settleFailedAttempt } from "./remediate.ts";
import { attemptedOf, type DesiredRelease, type Tools } from "./tools.ts";

/** Undefined: it is ready, or not as the agent left it: decide again. Throws why the release failed by not becoming ready. */
export async function awaitReadiness(
  tools: Tools,
  { record, untilMs }: Extract<Action, { kind: "await" }>,
  release: DesiredRelease,
  pass: DeployPass,
): Promise<DeployResult | undefined> {
  const { inventory, attempts, stored, clock } = tools;
  const { desired, client } = release;
  // The objects that are waited for come from the record, which tenants can write.
  if (await disownChanged(tools, record)) return undefined;
  const action = inventory.revisionOf(record, record.revision)?.action ?? "upgrade";
  const found = await inSync(tools, release, record);
  const readiness = pass.readinessOf(found);
  // Its objects were not read yet: nothing can be said of them, also after the deadline. A change of readiness ends this wait.
  if (readiness === undefined) return progress(tools, release, { found, action, untilMs });
  const waitsForJobs = mustCompleteJobs(release, action);
  if (readiness.ready && !(waitsForJobs && readiness.runningJob !== undefined)) {
    await attempts.endDeadline(desired.owner.id);
    return undefined;
  }
  if (clock.now() < untilMs) return progress(tools, release, { found, action, untilMs });
  const error = notReadyError(record, readiness);
  await stored.fail(client.rest, record, error.message);
  await attempts.endDeadline(desired.owner.id);
  if (action === "rollback") {
    await recordRemediation(attempts, attemptedOf(release), "rollback", { error });
    throw error;
  }
  const reason = action === "install" ? fluxReason.installFailed : fluxReason.upgradeFailed;
  return await settleFailedAttempt(tools, release, { action, reason, error });
}

function progress(
  tools: Tools,
  release: DesiredRelease,
  {
    found,
    action,
    untilMs,
  }: { readonly found: InSync; readonly action: RevisionAction; readonly untilMs: number },
): DeployResult {
  return action === "rollback"
    ? { kind: "rollingBack", failure: lastFailure(tools, release), untilMs }
    : { kind: "progressing", found, untilMs };
}

type RevisionAction = AttemptedAction | "rollback";

function mustCompleteJobs({ content }: DesiredRelease, action: RevisionAction): boolean {
  return action === "rollback"
    ? rollbackOptions(content).waitsForJobs
    : upgradeOptions(content, action === "install").waitsForJobs;
}

/** What a rollback in progress follows. */
function lastFailure({ attempts }: Tools, release: DesiredRelease) {
  const failed = failedAttemptsAt(attempts, attemptedOf(release));
  return failed === undefined
    ? { message: "", code: agentErrors.HELM_FAILED.code }
    : { message: `${failed.message}${remediated(failed)}`, code: failed.code };
}

type Unready = Pick<Readiness, "notReady" | "counts" | "runningJob">;

/** In a message. */
const maxReasons = 5;

function notReadyError({ namespace, name }: ReleaseKey, readiness: Unready): AppError {
  return new AppError(
    agentErrors.RELEASE_NOT_READY,
    `release ${namespace}/${name} was not ready at the end of its timeout: ${reasonsOf(readiness)}`,
  );
}

function reasonsOf({ notReady, counts, runningJob }: Unready): string {
  if (notReady.length === 0) return `Job ${runningJob ?? ""} is not complete`;
  const shown = notReady.slice(0, maxReasons);
  const total = counts.notReady + counts.missing + counts.unknown;
  const reasons = shown.map(({ kind, name, message }) => `${kind} ${name}: ${message}`).join("; ");
  return total > shown.length ? `${reasons}; and ${total - shown.length} more` : reasons;
}
