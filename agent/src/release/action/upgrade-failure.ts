/** What follows a run of `helm upgrade --install` that failed, before the failure is counted. */
import { AppError, messageOf } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import {
  type HelmResult,
  hasFailedToReplace,
  helmFailureOf,
  immutableRefusals,
  type ReleaseRecord,
  refusedText,
  structuralRefusal,
} from "../../helm/index.ts";
import type { ApplyNotes } from "../../state/index.ts";
import { abortLater } from "./abort-later.ts";
import { mayChangeMethod } from "./apply-notes.ts";
import type { HelmUninstall } from "./helm-uninstall.ts";
import { keylessMessage } from "./keyless-entries.ts";
import { type RecordRunDeps, recordFailure } from "./record-run.ts";
import { type ReplaceDeps, replaceObjects } from "./replace-objects.ts";
import { refusalsText } from "./replacement-plan.ts";
import type { DeployUntil, Prepared, RevisionInputs, UpgradeResult } from "./revision.ts";
import { skippedText } from "./unserved-objects.ts";

export interface UpgradeFailureDeps
  extends Omit<RecordRunDeps, "records" | "inventory" | "attempts">,
    Omit<ReplaceDeps, "stored" | "records" | "inventory" | "attempts"> {
  readonly uninstall: HelmUninstall;
  readonly records: RecordRunDeps["records"] & ReplaceDeps["records"];
  readonly inventory: RecordRunDeps["inventory"] & ReplaceDeps["inventory"];
  readonly attempts: RecordRunDeps["attempts"] & ReplaceDeps["attempts"];
  readonly supersededGraceMs: number;
}

/** A release that can be applied in another way is, without counting the failure. */
export async function afterFailedRun(
  deps: UpgradeFailureDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  result: HelmResult,
  pass: DeployUntil,
): Promise<UpgradeResult> {
  const record = await recordFailure(deps, revision, prepared);
  const isWanted = !pass.signal.aborted && !pass.superseded.aborted;
  const run = { result, record, pass };
  if (isWanted && (await isAvoidable(deps, revision, prepared, run))) return { kind: "again" };
  const refusals = immutableRefusals(result.stderr);
  if (refusals === undefined) {
    const message = await keylessMessage(deps, revision.desired, result.stderr);
    return await toFailure(deps, revision, prepared, { ...run, message });
  }
  if (!prepared.options.replacesRefused || !isWanted || record === undefined)
    return await toFailure(deps, revision, prepared, { ...run, message: refusalsText(refusals) });
  const { digest } = prepared;
  const refused = { record, digest, refusals, signal: pass.signal };
  const why = await replaceObjects(deps, revision, refused);
  if (why === undefined) return { kind: "again" };
  const message = refusalsText(refusals, why);
  return await toFailure(deps, revision, prepared, { ...run, message });
}

/** Whether the next run of the same release avoids what this one has failed by. */
async function isAvoidable(
  deps: UpgradeFailureDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  run: FailedRun,
): Promise<boolean> {
  if (await becomesClientSide(deps, revision, prepared, run)) return true;
  if (!prepared.options.force || !hasFailedToReplace(run.result.stderr)) return false;
  await setRefused(deps, revision, prepared, { patched: true });
  return true;
}

async function setRefused(
  { attempts }: Pick<UpgradeFailureDeps, "attempts">,
  { desired: { owner } }: RevisionInputs,
  { digest }: Prepared,
  refused: ApplyNotes,
): Promise<void> {
  const known = attempts.refusedOf(owner.id);
  const same = known?.digest === digest ? known : undefined;
  await attempts.setRefused(owner.id, { ...same, ...refused, digest });
}

interface FailedRun {
  readonly result: HelmResult;
  /** In place of what Helm has printed. */
  readonly message?: string | undefined;
  readonly record: ReleaseRecord | undefined;
  readonly pass: DeployUntil;
}

/**
 * Where server-side apply refuses a release for the structure of its objects, the next run applies it client-side. Both methods
 * have the same result for objects that the first run has applied.
 */
async function becomesClientSide(
  deps: UpgradeFailureDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  { result, record, pass }: FailedRun,
): Promise<boolean> {
  const { desired, client } = revision;
  const { options, action } = prepared;
  const { stored, releases, log } = deps;
  const refusal = mayChangeMethod(options) ? structuralRefusal(result.stderr) : undefined;
  if (refusal === undefined) return false;
  const { namespace, name, owner } = desired;
  const { reason, field } = refusal;
  const object = refusedText(refusal.object);
  // Otherwise the next run would be an upgrade, without the hooks of an installation. What is created stays, and is taken over.
  if (
    action === "install" &&
    record !== undefined &&
    releases.history(namespace, name).length === 1
  )
    await stored.discard(client.rest, record, pass.signal);
  await setRefused(deps, revision, prepared, { clientSide: { reason, object, field } });
  log.info(
    { deployment: owner.name, release: name, namespace, object, field, reason },
    "server-side apply refuses the release, applying it client-side",
  );
  return true;
}

async function toFailure(
  deps: UpgradeFailureDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  { result, record, pass, message = helmFailureOf(result) }: FailedRun,
): Promise<UpgradeResult> {
  const { inputs, desired } = revision;
  const { rollback, options, action, chart } = prepared;
  const mustUninstall = options.isAtomic && rollback === "uninstall" && !pass.signal.aborted;
  const rolledBack =
    mustUninstall && record !== undefined
      ? await uninstallFailedInstall(deps, record, { ...revision, options }, pass)
      : options.isAtomic && rollback === "no"
        ? "; it was not rolled back, although atomic is set, because this agent did not create the revision before"
        : "";
  const error = new AppError(
    agentErrors.HELM_FAILED,
    `helm upgrade --install of release ${desired.namespace}/${desired.name} with chart ${chart}: ${inputs.redact(`${message}${rolledBack}`)}`,
  );
  const hasRecord = record !== undefined && record.revision >= revision.revision;
  return { kind: "failed", action, error, hasRecord };
}

/**
 * Uninstalls a failed first install, as Helm itself does with `atomic`. But Helm would delete definitions that must stay and
 * that may be older than the release. Returns the continuation of the error message.
 */
async function uninstallFailedInstall(
  { uninstall, clock, supersededGraceMs }: UpgradeFailureDeps,
  record: ReleaseRecord,
  { client, options }: Pick<RevisionInputs, "client"> & Pick<Prepared, "options">,
  { signal, superseded }: DeployUntil,
): Promise<string> {
  const late = abortLater(superseded, supersededGraceMs, clock);
  try {
    const { skipped } = await uninstall(record, {
      keep: true,
      isForced: false,
      client,
      signal: AbortSignal.any([signal, late.signal]),
      ...(!superseded.aborted && { flags: { waitSeconds: options.timeoutSeconds } }),
    });
    return `; the failed release was uninstalled, as atomic is set${skippedText(skipped)}`;
  } catch (thrown) {
    return `; the failed release could not be uninstalled, although atomic is set: ${messageOf(thrown)}`;
  } finally {
    late.cancel();
  }
}
