/** What is reported of a release besides its objects: its conditions and its newest revisions. Pure, of what is stored. */

import type { DeploymentState, RevisionInfo } from "@flotilla/proto";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { formatTime } from "@flotilla/shared/time";
import type { ReleaseKey, ReleaseRecord } from "../../helm/index.ts";
import type { DeploymentResult, DriftText } from "../../observe/index.ts";
import type {
  AcceptedRequests,
  Attempts,
  Inventory,
  InventoryRelease,
  InventoryRevision,
  ReleaseAssignment,
  ReleaseOwner,
} from "../../state/index.ts";
import { applyRemarks } from "../state/apply-remarks.ts";
import { type ReleaseProgress, releaseConditions } from "../state/conditions.ts";
import { failuresOf } from "../state/failure-policy.ts";

export interface ReleaseReportDeps {
  readonly inventory: Pick<Inventory, "knows" | "releasesOf">;
  readonly attempts: Pick<Attempts, "failedAttemptsOf">;
  readonly requests: Pick<AcceptedRequests, "requestOf">;
  readonly releases: { history(namespace: string, name: string): readonly ReleaseRecord[] };
}

/** As many as Flux keeps. */
const maxRevisions = 5;

interface KnownRevision extends InventoryRevision {
  readonly status: string;
}

export function releaseReport(
  { inventory, attempts, requests, releases }: ReleaseReportDeps,
  { owner, deploymentId }: ReleaseAssignment,
  {
    result,
    drift,
    running,
  }: {
    readonly result: DeploymentResult;
    readonly drift: DriftText | undefined;
    /** The action in progress, if any. */
    readonly running?: string | undefined;
  },
): Pick<DeploymentState, "conditions" | "history" | "failures" | "failuresBy" | "request"> {
  const installed = releaseIn(inventory, owner);
  const counted = attempts.failedAttemptsOf(owner.id);
  const failed = counted?.deploymentId === deploymentId ? counted : undefined;
  const request = requests.requestOf(owner.id);
  const revisions = installed === undefined ? [] : knownRevisions(installed, releases);
  const conditions = releaseConditions({
    release: installed === undefined ? "" : `${installed.namespace}/${installed.name}`,
    revision: revisions.find(({ status }) => status === "deployed"),
    failed,
    progress: running === undefined ? progressOf(result) : { kind: "acting", message: running },
    drift,
  });
  return {
    ...(conditions.length > 0 && { conditions }),
    ...(revisions.length > 0 && { history: revisions.slice(0, maxRevisions).map(toInfo) }),
    ...(failed !== undefined &&
      failed.count > 0 && {
        failures: failed.count,
        failuresBy: {
          install: failuresOf(failed, "install"),
          upgrade: failuresOf(failed, "upgrade"),
        },
      }),
    ...(request?.result !== undefined && {
      request: { token: request.token, ...request.result },
    }),
  };
}

/**
 * Whether a release that earlier reports may tell of is not there any more: the agent has begun to install the deployment, and
 * has no release of it. Without an entry in the inventory nothing is known, as after the loss of the agent's Secrets.
 */
export function hasNoRelease(
  { inventory }: Pick<ReleaseReportDeps, "inventory">,
  { owner }: ReleaseAssignment,
  { kind }: DeploymentResult,
): boolean {
  const isAttempt = kind === "pending" || kind === "failed";
  return isAttempt && inventory.knows(owner) && releaseIn(inventory, owner) === undefined;
}

function releaseIn(
  inventory: Pick<Inventory, "releasesOf">,
  { id, uid }: ReleaseOwner,
): InventoryRelease | undefined {
  return inventory.releasesOf(id).findLast((each) => each.uid === uid);
}

/** Those that Helm still has, newest first. */
function knownRevisions(
  release: ReleaseKey & { readonly revisions: readonly InventoryRevision[] },
  releases: ReleaseReportDeps["releases"],
): readonly KnownRevision[] {
  const records = releases.history(release.namespace, release.name);
  const statuses = new Map(records.map(({ revision, status }) => [revision, status]));
  return release.revisions
    .flatMap((revision) => {
      const status = statuses.get(revision.revision);
      return status === undefined ? [] : [{ ...revision, status }];
    })
    .toSorted((a, b) => b.revision - a.revision);
}

function toInfo(known: KnownRevision): RevisionInfo {
  const { revision, status, action, chartName, chartVersion, appVersion, createdAtMs } = known;
  const remarks = applyRemarks(known.notes);
  return {
    revision,
    status,
    ...(action !== undefined && { action }),
    chartName: chartName ?? "",
    chartVersion: chartVersion ?? "",
    appVersion: appVersion ?? "",
    ...(createdAtMs !== undefined && { deployedAt: formatTime(createdAtMs) }),
    tests: (known.tests ?? []).map(({ name, phase }) => ({ name, phase })),
    ...(known.digest !== undefined && { digest: known.digest }),
    ...(remarks.length > 0 && { remarks }),
  };
}

function progressOf(result: DeploymentResult): ReleaseProgress {
  switch (result.kind) {
    case "pending":
      return {
        kind: "progressing",
        message: result.message,
        ...(result.waitsFor !== undefined && { reason: fluxReason.dependencyNotReady }),
      };
    case "withdrawing":
      return { kind: "progressing", message: result.message };
    case "failed":
      return result;
    case "deployed":
      return result.awaitsUntil === undefined
        ? { kind: "done" }
        : {
            kind: "progressing",
            message: `waiting until ${result.awaitsUntil} for the objects to become ready`,
          };
  }
}
