/** Runs `helm uninstall`, and records its result at once. */
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import {
  type CrdPolicy,
  type CrdRetention,
  helmErrorOf,
  isReleaseNotFound,
  type ReleaseKey,
  type ReleaseRecord,
  type Releases,
  type RunHelm,
  type StoredReleases,
  type UninstallFlags,
  uninstallArgs,
  withOptions,
} from "../../helm/index.ts";
import type { Inventory } from "../../state/index.ts";
import type { RecordGuard } from "./record-guard.ts";
import type { SkippedObject, UnservedObjects } from "./unserved-objects.ts";

export interface UninstallDeps {
  readonly stored: StoredReleases;
  readonly releases: Releases;
  readonly crds: CrdRetention;
  readonly guard: RecordGuard;
  readonly unserved: UnservedObjects;
  readonly inventory: Pick<Inventory, "removed">;
  readonly runHelm: RunHelm;
}

export interface UninstallOptions extends CrdPolicy {
  /** Where the release moves to; absent if it is deleted. */
  readonly to?: ReleaseKey;
  /** See Actor. */
  readonly isForced: boolean;
  readonly flags?: UninstallFlags;
  /** Removes values of Secrets from Helm's error: API servers quote what they reject. Absent where the caller does so itself. */
  readonly redact?: (text: string) => string | Promise<string>;
}

export interface Uninstalled {
  /** Objects that Helm did not delete, and hooks that it did not run, because the cluster does not have their kinds any more. */
  readonly skipped: readonly SkippedObject[];
}

/**
 * Throws HELM_FAILED with Helm's error, RELEASE_NOT_OURS, KIND_UNAVAILABLE, and CRDS_NOT_KEPT if it would delete definitions that must
 * stay.
 */
export type HelmUninstall = (
  record: ReleaseRecord,
  options: UninstallOptions,
) => Promise<Uninstalled>;

export function createHelmUninstall(deps: UninstallDeps): HelmUninstall {
  const { stored, releases, crds, guard, unserved, inventory, runHelm } = deps;
  return async function uninstall(record, { to, flags = {}, isForced, redact, ...policy }) {
    const { client, signal } = policy;
    const known = await guard.beforeUninstall(record, { client, isForced, signal });
    const withoutHooks = known.withoutHooks || flags.withoutHooks === true;
    const skipped = await unserved.leaveOut(record, { client, withoutHooks, signal });
    await crds.beforeRemoval(record, policy, to);
    const args = withOptions(client.helmArgs, uninstallArgs(record, { ...flags, withoutHooks }));
    const result = await runHelm({ args, signal });
    const error = result.code === 0 ? undefined : helmErrorOf(result);
    if (error !== undefined && !isReleaseNotFound(error)) {
      const why = redact === undefined ? error : await redact(error);
      throw new AppError(
        agentErrors.HELM_FAILED,
        `helm uninstall of release ${record.namespace}/${record.name}: ${why}`,
      );
    }
    stored.forget(record);
    await inventory.removed(record);
    const isKept = flags.keepsHistory === true && error === undefined;
    releases.removed(record, isKept ? record : undefined);
    return { skipped };
  };
}
