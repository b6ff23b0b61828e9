/** Runs `helm rollback` to an earlier revision of the agent, and records its result at once. */
import { AppError } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { agentErrors } from "../../base/errors/index.ts";
import {
  type CrdRetention,
  type HelmResult,
  hasFailedToReplace,
  hasHooks,
  helmFailureOf,
  immutableRefusals,
  isLocked,
  type ReleaseRecord,
  type Releases,
  type RollbackOptions,
  type RunHelm,
  rollbackArgs,
  rollbackOptions,
  type StoredRelease,
  type StoredReleases,
  withOptions,
} from "../../helm/index.ts";
import type { ApplyNotes, Attempts, Inventory, InventoryRevision } from "../../state/index.ts";
import { chartOf, inventoryRelease, isPrinted } from "./claims.ts";
import { keylessMessage } from "./keyless-entries.ts";
import type { RecordGuard } from "./record-guard.ts";
import { isAppliedByClient, type RepairDeps, releasesBefore, repairLists } from "./repair-lists.ts";
import { type ReplaceDeps, replaceObjects } from "./replace-objects.ts";
import { refusalsText } from "./replacement-plan.ts";
import { defaultTimeoutMs, type RevisionInputs } from "./revision.ts";

export interface RollbackDeps {
  readonly releases: Pick<Releases, "history" | "ran">;
  readonly stored: Pick<StoredReleases, "recordAt" | "read" | "readAll" | "forget">;
  readonly records: RepairDeps["records"] & ReplaceDeps["records"];
  readonly crds: Pick<CrdRetention, "beforeUpgrade">;
  readonly inventory: Pick<Inventory, "installed" | "revisionOf" | "releasesOf">;
  readonly attempts: Pick<Attempts, "beginRun" | "endRun" | "refusedOf" | "setRefused">;
  readonly guard: Pick<RecordGuard, "beforeRollback">;
  readonly runHelm: RunHelm;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RollbackInputs extends RevisionInputs {
  /** Created by the agent, and unchanged since. */
  readonly target: ReleaseRecord;
}

/** Throws HELM_FAILED, and RELEASE_NOT_OURS if Helm would delete objects by a record of somebody else. */
export type HelmRollback = (inputs: RollbackInputs, signal: AbortSignal) => Promise<void>;

export function createHelmRollback(deps: RollbackDeps): HelmRollback {
  return async function rollback(inputs, signal) {
    const refused: { isPatched: boolean } = { isPatched: false };
    let { revision } = inputs;
    // It ends: objects are patched once, and each of them is replaced once.
    for (;;) {
      const failed = await run(deps, { ...inputs, revision }, refused, signal);
      if (failed === undefined) return;
      const after = await afterFailedRun(deps, inputs, failed, signal);
      if (after.kind === "failed") throw rollbackFailed(inputs, after.message);
      if (after.isPatched) refused.isPatched = true;
      revision = (failed.record?.revision ?? revision) + 1;
    }
  };
}

interface FailedRollback {
  readonly result: HelmResult;
  readonly options: RollbackOptions;
  /** What is known of the revision that is rolled back to. */
  readonly known: InventoryRevision | undefined;
  /** The revision of the failed run, if Helm has made one. */
  readonly record: ReleaseRecord | undefined;
}

/** Undefined: the release was rolled back. */
async function run(
  deps: RollbackDeps,
  rolledBack: RollbackInputs,
  { isPatched }: { readonly isPatched: boolean },
  signal: AbortSignal,
): Promise<FailedRollback | undefined> {
  const { inventory, attempts, runHelm, clock } = deps;
  const { desired, isForced, content, client, revision, target } = rolledBack;
  const { owner, namespace, name } = desired;
  if (client.isAgent) await deps.guard.beforeRollback(desired, { client, isForced, signal });
  const known = inventory.revisionOf(target, target.revision);
  const isClientSide = known?.notes?.clientSide !== undefined;
  const options = rollbackOptions(content, { isClientSide, isPatched });
  const helmWaits = mustHelmWait(options, known);
  const untilMs = clock.now() + (options.timeoutSeconds * 1_000 || defaultTimeoutMs);
  const readyUntilMs = options.waits && !helmWaits ? untilMs : undefined;
  const keep = content.deleteCRDResources !== true;
  await deps.crds.beforeUpgrade(desired, { keep, client, signal });
  await attempts.beginRun(owner, {
    namespace,
    release: name,
    revision,
    rollsBack: false,
    target: target.revision,
    digest: known?.digest ?? "",
    chartDigest: known?.chartDigest ?? "",
    ...(known?.origin !== undefined && { origin: known.origin }),
    ...(readyUntilMs !== undefined && { readyUntilMs }),
  });
  const { maxHistory } = content.helm;
  const args = rollbackArgs(desired, {
    target: target.revision,
    options,
    waits: helmWaits,
    maxHistory,
  });
  const before = await releasesBefore(deps, target, options);
  const result = await runHelm({ args: withOptions(client.helmArgs, args), signal });
  if (result.code === 0) await repair(deps, rolledBack, { before, signal });
  const found = await record(deps, rolledBack, { known, readyUntilMs });
  return result.code === 0 ? undefined : { result, options, known, record: found };
}

type AfterFailure =
  | { readonly kind: "again"; readonly isPatched: boolean }
  | { readonly kind: "failed"; readonly message: string };

/** As after an upgrade that failed: with `rollback.force` objects that cannot be changed are deleted and created again. */
async function afterFailedRun(
  deps: RollbackDeps,
  { desired, client }: RollbackInputs,
  { result, options, known, record: failed }: FailedRollback,
  signal: AbortSignal,
): Promise<AfterFailure> {
  if (!signal.aborted && options.force && hasFailedToReplace(result.stderr))
    return { kind: "again", isPatched: true };
  const refusals = immutableRefusals(result.stderr);
  if (refusals === undefined) {
    const message = await keylessMessage(deps, desired, result.stderr);
    return { kind: "failed", message: message ?? helmFailureOf(result) };
  }
  const digest = known?.digest;
  if (!options.replacesRefused || signal.aborted || failed === undefined || digest === undefined)
    return { kind: "failed", message: refusalsText(refusals) };
  const run = { record: failed, digest, refusals, signal };
  const why = await replaceObjects(deps, { desired, client }, run);
  return why === undefined
    ? { kind: "again", isPatched: false }
    : { kind: "failed", message: refusalsText(refusals, why) };
}

function rollbackFailed({ desired, target, inputs }: RollbackInputs, message: string): AppError {
  const release = `${desired.namespace}/${desired.name}`;
  return new AppError(
    agentErrors.HELM_FAILED,
    `helm rollback of release ${release} to revision ${target.revision}: ${inputs.redact(message)}`,
  );
}

/** Helm rolls back by the method of the revision that it rolls back to, and prints nothing about it. */
async function repair(
  deps: RollbackDeps,
  { desired, revision, client: { rest } }: RollbackInputs,
  {
    before,
    signal,
  }: { readonly before: readonly StoredRelease[] | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const found = before === undefined ? undefined : await deps.stored.recordAt(desired, revision);
  if (before === undefined || found === undefined) return;
  deps.stored.forget(found);
  const release = await deps.stored.read(found);
  if (isAppliedByClient(release)) await repairLists(deps, { release, before, rest, signal });
}

/** What Helm does after the objects are ready the agent cannot do. */
function mustHelmWait(
  { waits, cleansUp, runsHooks }: RollbackOptions,
  target: InventoryRevision | undefined,
): boolean {
  const mayHaveHooks = target === undefined || hasHooks(target.content);
  return waits && (cleansUp || (runsHooks && mayHaveHooks));
}

/** Helm prints nothing about the revision, so its record is read. Undefined: there is none. */
async function record(
  { stored, releases, inventory, attempts, clock }: RollbackDeps,
  { assignment, desired, content, revision, reasons }: RollbackInputs,
  {
    known,
    readyUntilMs,
  }: {
    readonly known: InventoryRevision | undefined;
    readonly readyUntilMs: number | undefined;
  },
): Promise<ReleaseRecord | undefined> {
  const { namespace, name, owner } = desired;
  const found = await stored.recordAt({ namespace, name }, revision);
  if (found === undefined) {
    await attempts.endRun(owner.id);
    return undefined;
  }
  releases.ran(found);
  stored.forget(found);
  const release = await stored.read(found);
  const isDeployed = found.status === "deployed";
  await inventory.installed(owner.id, inventoryRelease(assignment, content), {
    added: [
      {
        revision,
        content: release.content,
        action: "rollback",
        ...(!isPrinted(inventory, owner.id, release) && { fromRecord: true }),
        ...(known?.digest !== undefined && { digest: known.digest }),
        ...(known?.origin !== undefined && { origin: known.origin }),
        ...(known?.chartDigest !== undefined && { chartDigest: known.chartDigest }),
        ...(known?.parts !== undefined && { parts: known.parts }),
        reasons: [...reasons],
        ...chartOf(release),
        ...notesOf(attempts, owner.id, known),
        createdAtMs: clock.now(),
      },
    ],
    kept: releases.history(namespace, name).map((each) => each.revision),
    ...(isDeployed &&
      readyUntilMs !== undefined && {
        deadline: {
          namespace,
          release: name,
          revision,
          untilMs: readyUntilMs,
          isRollback: true,
        },
      }),
    endsRun: !isLocked(found),
  });
  return found;
}

/** How the revision was applied: as the one before, and with what was replaced for it. */
function notesOf(
  attempts: Pick<Attempts, "refusedOf">,
  id: string,
  known: InventoryRevision | undefined,
): { readonly notes?: ApplyNotes } {
  const clientSide = known?.notes?.clientSide;
  const refused = attempts.refusedOf(id);
  const replaced = refused?.digest === known?.digest ? refused?.replaced : undefined;
  if (clientSide === undefined && replaced === undefined) return {};
  return {
    notes: {
      ...(clientSide !== undefined && { clientSide }),
      ...(replaced !== undefined && { replaced }),
    },
  };
}
