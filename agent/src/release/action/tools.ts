/** What every action is given: its dependencies, and the desired release. */
import type { DeploymentContent } from "@flotilla/shared/content";
import type { Clock } from "@flotilla/shared/time";
import type { ImpersonatedClient } from "../../base/index.ts";
import type { CrdRetention, ReadRecords, Releases, StoredReleases } from "../../helm/index.ts";
import type { DownstreamResources, ReleaseInputs } from "../../inputs/index.ts";
import type { DriftTracker } from "../../observe/index.ts";
import type { Attempts, Inventory, ReleaseAssignment } from "../../state/index.ts";
import {
  type AttemptedAction,
  type FailurePolicy,
  failurePolicy,
} from "../state/failure-policy.ts";
import type { ReleaseReason } from "../state/release-reason.ts";
import type { Desired } from "../state/release-state.ts";
import type { Attempted } from "./failed-attempts.ts";
import type { HelmRollback } from "./helm-rollback.ts";
import type { RunHelmTest } from "./helm-test.ts";
import type { HelmUninstall } from "./helm-uninstall.ts";
import type { HelmUpgrade } from "./helm-upgrade.ts";
import type { RecordsNamespace } from "./records-namespace.ts";

/** The dependencies of all actions. */
export interface Tools {
  readonly releases: Pick<Releases, "latest" | "history">;
  readonly stored: StoredReleases;
  readonly records: ReadRecords;
  readonly crds: CrdRetention;
  readonly downstream: Pick<DownstreamResources, "apply">;
  readonly inventory: Inventory;
  readonly attempts: Attempts;
  readonly uninstallRelease: HelmUninstall;
  readonly upgradeRelease: HelmUpgrade;
  readonly rollBack: HelmRollback;
  readonly runTests: RunHelmTest;
  readonly recordsNamespace: RecordsNamespace;
  readonly drift: Pick<DriftTracker, "driftOf" | "correct" | "suspend" | "comparedFor">;
  readonly clock: Clock;
}

/** A release in its desired state in this cluster. */
export interface DesiredRelease {
  readonly assignment: ReleaseAssignment;
  readonly content: DeploymentContent;
  readonly desired: Desired;
  readonly isForced: boolean;
  /** What others have changed, and a run that a user has requested changes back. */
  readonly takenFields: readonly string[];
  /** Why something is done. */
  readonly reasons: readonly ReleaseReason[];
  /** The token of the request of a user to correct all drift now; undefined: there is none, or it is done. */
  readonly correctionRequest: () => string | undefined;
  readonly client: ImpersonatedClient;
  readonly inputs: ReleaseInputs;
}

export function attemptedOf({
  assignment,
  desired,
}: Pick<DesiredRelease, "assignment" | "desired">): Attempted {
  const { owner, deploymentId } = assignment;
  return { id: owner.id, deploymentId, digest: desired.digest };
}

export function policiesOf(
  content: DeploymentContent,
): Readonly<Record<AttemptedAction, FailurePolicy>> {
  return {
    install: failurePolicy(content, "install"),
    upgrade: failurePolicy(content, "upgrade"),
  };
}
