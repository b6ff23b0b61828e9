/** A revision that the agent is about to create, and how long it may take. */
import type { DeploymentContent, ReleaseParts } from "@flotilla/shared/content";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import type { ReconcileContext } from "@flotilla/shared/kube/controller";
import type { ImpersonatedClient } from "../../base/index.ts";
import type { ReleaseRecord, StoredRelease, UpgradeOptions } from "../../helm/index.ts";
import type { ReleaseInputs } from "../../inputs/index.ts";
import type { ApplyNotes, ReleaseAssignment } from "../../state/index.ts";
import type { AttemptedAction } from "../state/failure-policy.ts";
import type { ReleaseReason } from "../state/release-reason.ts";
import type { Desired } from "../state/release-state.ts";

export interface DeployUntil {
  /** Aborts when the process ends. */
  readonly signal: AbortSignal;
  /** Aborts when another content is desired: the agent does not wait for Helm. */
  readonly superseded: AbortSignal;
  /** Runs I/O without occupying a worker. */
  readonly withoutWorker: ReconcileContext["withoutWorker"];
}

/** A revision to be created. */
export interface RevisionInputs {
  readonly assignment: ReleaseAssignment;
  readonly desired: Desired;
  readonly isForced: boolean;
  /** What a run that a user has requested takes from other managers, as far as it is known. */
  readonly takenFields: readonly string[];
  readonly reasons: readonly ReleaseReason[];
  readonly content: DeploymentContent;
  readonly revision: number;
  readonly client: ImpersonatedClient;
  readonly inputs: ReleaseInputs;
}

/** A revision that is ready to be passed to Helm. */
export interface Prepared {
  /** `name@version`, for messages. */
  readonly chart: string;
  readonly args: readonly string[];
  readonly stdin: string | undefined;
  readonly digest: string;
  /** The parts of the digest. */
  readonly parts: ReleaseParts;
  readonly chartDigest: string;
  readonly options: UpgradeOptions;
  /** The notes of the revision, once it is deployed. */
  readonly notes?: ApplyNotes;
  /** The earlier revisions, if objects are patched by the client. */
  readonly before?: readonly StoredRelease[];
  readonly action: AttemptedAction;
  /** With `atomic`: Helm rolls back by itself, or the agent uninstalls a failed first install. `no`: not possible. */
  readonly rollback: "by Helm" | "uninstall" | "no";
  /** Helm waits until the objects are ready. */
  readonly helmWaits: boolean;
  /** The agent waits for them until then. */
  readonly readyUntilMs: number | undefined;
}

export type UpgradeResult =
  | { readonly kind: "done" }
  /** The chart has another name than the installed one, so the release is to be uninstalled first. Nothing was changed. */
  | { readonly kind: "reinstall" }
  /** The API server has refused the release in a way that the next run avoids. */
  | { readonly kind: "again" }
  /** `error`: HELM_FAILED, or what the namespace or the definitions have failed by. `hasRecord`: Helm has changed the release. */
  | {
      readonly kind: "failed";
      readonly action: AttemptedAction;
      readonly error: AppError;
      readonly hasRecord: boolean;
    };

/** Helm's own. */
export const defaultTimeoutMs = 5 * 60_000;

/** Whether Helm installs instead of upgrading. */
export function isFirst(latest: ReleaseRecord | undefined): boolean {
  return latest === undefined || latest.status === "uninstalled";
}

/** Throws CANCELLED. */
export function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new AppError(commonErrors.CANCELLED, "cancelled: another content is desired now");
}
