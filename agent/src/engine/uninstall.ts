/** One run of `helm uninstall`, with what became of it known at once. */
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { CrdKeeper, CrdWishes } from "../crds/crd-keeper.ts";
import type { Place } from "../crds/live-crd.ts";
import { agentErrors } from "../errors.ts";
import { isNotThere, uninstallArgs } from "../helm/commands.ts";
import type { ReleaseRecord } from "../helm/release-record.ts";
import type { Releases } from "../helm/releases.ts";
import { complaintOf, type RunHelm } from "../helm/run-helm.ts";
import type { StoredReleases } from "./stored-releases.ts";

export interface UninstallDeps {
  readonly stored: StoredReleases;
  readonly releases: Releases;
  readonly crds: CrdKeeper;
  readonly runHelm: RunHelm;
}

export interface Removal extends CrdWishes {
  /** Where it is moved; absent: nowhere. */
  readonly to?: Place;
  /** How long Helm waits until everything is gone; absent: it does not wait. */
  readonly waitSeconds?: number;
}

/** Removes a release. Throws HELM_FAILED in Helm's words, CRDS_NOT_KEPT where something would go that is to stay. */
export type Uninstall = (record: ReleaseRecord, removal: Removal) => Promise<void>;

export function createUninstall({ stored, releases, crds, runHelm }: UninstallDeps): Uninstall {
  return async function uninstall(record, { to, waitSeconds, ...wishes }) {
    const { actor, signal } = wishes;
    await crds.beforeRemoval(record, wishes, to);
    const args = [...uninstallArgs(record, waitSeconds), ...actor.helmArgs];
    const result = await runHelm({ args, signal });
    const complaint = result.code === 0 ? undefined : complaintOf(result);
    if (complaint !== undefined && !isNotThere(complaint)) {
      throw new AppError(
        agentErrors.HELM_FAILED,
        `helm uninstall of release ${record.namespace}/${record.name}: ${complaint}`,
      );
    }
    stored.forget(record);
    releases.removed(record);
  };
}
