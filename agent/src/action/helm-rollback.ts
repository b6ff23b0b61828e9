/** Runs `helm rollback` to an earlier revision of the agent, and records its result at once. */
import { AppError } from "@flotilla/shared/errors";
import type { Clock } from "@flotilla/shared/time";
import type { CrdRetention } from "../crds/index.ts";
import { agentErrors } from "../errors/index.ts";
import {
  helmFailureOf,
  isLocked,
  type ReleaseRecord,
  type Releases,
  type RollbackOptions,
  type RunHelm,
  rollbackArgs,
  rollbackOptions,
  type StoredReleases,
} from "../helm/index.ts";
import type { Inventory, InventoryRevision } from "../inventory/index.ts";
import { hasHooks } from "../record/index.ts";
import { chartOf, inventoryRelease } from "./claims.ts";
import type { RecordGuard } from "./record-guard.ts";
import { defaultTimeoutMs, type RevisionInputs } from "./revision.ts";

export interface RollbackDeps {
  readonly releases: Pick<Releases, "history" | "ran">;
  readonly stored: Pick<StoredReleases, "recordAt" | "read" | "forget">;
  readonly crds: Pick<CrdRetention, "beforeUpgrade">;
  readonly inventory: Pick<Inventory, "installed" | "beginRun" | "endRun" | "revisionOf">;
  readonly guard: Pick<RecordGuard, "beforeUpgrade">;
  readonly runHelm: RunHelm;
  readonly clock: Clock;
}

export interface RollbackInputs extends RevisionInputs {
  /** Created by the agent, and unchanged since. */
  readonly target: ReleaseRecord;
}

/** Throws HELM_FAILED, and RELEASE_NOT_OURS if Helm would delete objects by a record of somebody else. */
export type HelmRollback = (inputs: RollbackInputs, signal: AbortSignal) => Promise<void>;

export function createHelmRollback(deps: RollbackDeps): HelmRollback {
  const { inventory, runHelm, clock } = deps;
  return async function rollback(rolledBack, signal) {
    const { desired, isForced, content, client, revision, target } = rolledBack;
    const { owner, namespace, name } = desired;
    if (client.isAgent) await deps.guard.beforeUpgrade(desired, { client, isForced });
    const known = inventory.revisionOf(target, target.revision);
    const options = rollbackOptions(content);
    const helmWaits = mustHelmWait(options, known);
    const untilMs = clock.now() + (options.timeoutSeconds * 1_000 || defaultTimeoutMs);
    const readyUntilMs = options.waits && !helmWaits ? untilMs : undefined;
    const keep = content.deleteCRDResources !== true;
    await deps.crds.beforeUpgrade(desired, { keep, client, signal });
    await inventory.beginRun(owner, {
      ...{ namespace, release: name, revision, rollsBack: false, target: target.revision },
      ...{ digest: known?.digest ?? "", chartDigest: known?.chartDigest ?? "" },
      ...(known?.origin !== undefined && { origin: known.origin }),
      ...(readyUntilMs !== undefined && { readyUntilMs }),
    });
    const { maxHistory } = content.helm;
    const args = rollbackArgs(desired, {
      ...{ target: target.revision, options, waits: helmWaits, maxHistory },
    });
    const result = await runHelm({ args: [...args, ...client.helmArgs], signal });
    await record(deps, rolledBack, { known, readyUntilMs });
    if (result.code !== 0)
      throw new AppError(
        agentErrors.HELM_FAILED,
        `helm rollback of release ${namespace}/${name} to revision ${target.revision}: ${rolledBack.inputs.redact(helmFailureOf(result))}`,
      );
  };
}

/** What Helm does after the objects are ready the agent cannot do. */
function mustHelmWait(
  { waits, cleansUp, runsHooks }: RollbackOptions,
  target: InventoryRevision | undefined,
): boolean {
  const mayHaveHooks = target === undefined || hasHooks(target.content);
  return waits && (cleansUp || (runsHooks && mayHaveHooks));
}

/** Helm prints nothing about the revision, so its record is read. */
async function record(
  { stored, releases, inventory, clock }: RollbackDeps,
  { assignment, desired, content, revision }: RollbackInputs,
  {
    known,
    readyUntilMs,
  }: {
    readonly known: InventoryRevision | undefined;
    readonly readyUntilMs: number | undefined;
  },
): Promise<void> {
  const { namespace, name, owner } = desired;
  const found = await stored.recordAt({ namespace, name }, revision);
  if (found === undefined) return await inventory.endRun(owner.name);
  releases.ran(found);
  stored.forget(found);
  const release = await stored.read(found);
  const isDeployed = found.status === "deployed";
  await inventory.installed(owner.name, inventoryRelease(assignment, content), {
    added: [
      {
        ...{ revision, content: release.content, action: "rollback" },
        ...(known?.digest !== undefined && { digest: known.digest }),
        ...(known?.origin !== undefined && { origin: known.origin }),
        ...(known?.chartDigest !== undefined && { chartDigest: known.chartDigest }),
        ...chartOf(release),
        createdAtMs: clock.now(),
      },
    ],
    kept: releases.history(namespace, name).map((each) => each.revision),
    ...(isDeployed &&
      readyUntilMs !== undefined && {
        deadline: {
          ...{ namespace, release: name, revision },
          ...{ untilMs: readyUntilMs, isRollback: true },
        },
      }),
    endsRun: !isLocked(found),
  });
}
