/** Runs `helm uninstall`, and records its result at once. */
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { CrdPolicy, CrdRetention } from "../crds/crd-retention.ts";
import { agentErrors } from "../errors/agent-errors.ts";
import { isReleaseNotFound, uninstallArgs } from "../helm/commands.ts";
import type { ReleaseKey, ReleaseRecord } from "../helm/release-record.ts";
import type { Releases } from "../helm/releases.ts";
import { helmErrorOf, type RunHelm } from "../helm/run-helm.ts";
import type { StoredReleases } from "../helm/stored-releases.ts";

export interface UninstallDeps {
  readonly stored: StoredReleases;
  readonly releases: Releases;
  readonly crds: CrdRetention;
  readonly runHelm: RunHelm;
}

export interface UninstallOptions extends CrdPolicy {
  /** Where the release moves to; absent if it is deleted. */
  readonly to?: ReleaseKey;
  /** How long Helm waits for the deletion of the objects; absent: it does not wait. */
  readonly waitSeconds?: number;
}

/** Throws HELM_FAILED with Helm's error, and CRDS_NOT_KEPT if it would delete definitions that must stay. */
export type Uninstall = (record: ReleaseRecord, options: UninstallOptions) => Promise<void>;

export function createUninstall({ stored, releases, crds, runHelm }: UninstallDeps): Uninstall {
  return async function uninstall(record, { to, waitSeconds, ...policy }) {
    const { client, signal } = policy;
    await crds.beforeRemoval(record, policy, to);
    const args = [...uninstallArgs(record, waitSeconds), ...client.helmArgs];
    const result = await runHelm({ args, signal });
    const error = result.code === 0 ? undefined : helmErrorOf(result);
    if (error !== undefined && !isReleaseNotFound(error)) {
      throw new AppError(
        agentErrors.HELM_FAILED,
        `helm uninstall of release ${record.namespace}/${record.name}: ${error}`,
      );
    }
    stored.forget(record);
    releases.removed(record);
  };
}
