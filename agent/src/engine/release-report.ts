/** What is reported of a release besides its objects: its conditions and its newest revisions. Pure, of what is stored. */
import type { DeploymentState, RevisionInfo } from "@flotilla/proto";
import { formatTime } from "@flotilla/shared/time";
import type { Assignment } from "../assignment/index.ts";
import type { DriftText } from "../drift/index.ts";
import type { ReleaseKey, ReleaseRecord } from "../helm/index.ts";
import type { Inventory, InventoryRevision } from "../inventory/index.ts";
import { type ReleaseProgress, releaseConditions } from "../release/index.ts";
import type { DeploymentResult } from "../report/index.ts";

export interface ReleaseReportDeps {
  readonly inventory: Pick<Inventory, "releasesOf" | "failedAttemptsOf">;
  readonly releases: { history(namespace: string, name: string): readonly ReleaseRecord[] };
}

/** As many as Flux keeps. */
const maxRevisions = 5;

interface KnownRevision extends InventoryRevision {
  readonly status: string;
}

export function releaseReport(
  { inventory, releases }: ReleaseReportDeps,
  { owner, deploymentId }: Assignment,
  { result, drift }: { readonly result: DeploymentResult; readonly drift: DriftText | undefined },
): Pick<DeploymentState, "conditions" | "history" | "failures"> {
  const installed = inventory.releasesOf(owner.name).findLast(({ uid }) => uid === owner.uid);
  const attempts = inventory.failedAttemptsOf(owner.name);
  const failed = attempts?.deploymentId === deploymentId ? attempts : undefined;
  const revisions = installed === undefined ? [] : knownRevisions(installed, releases);
  const conditions = releaseConditions({
    release: installed === undefined ? "" : `${installed.namespace}/${installed.name}`,
    revision: revisions.find(({ status }) => status === "deployed"),
    failed,
    progress: progressOf(result),
    drift,
  });
  return {
    ...(conditions.length > 0 && { conditions }),
    ...(revisions.length > 0 && { history: revisions.slice(0, maxRevisions).map(toInfo) }),
    ...(failed !== undefined && failed.count > 0 && { failures: failed.count }),
  };
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
  return {
    ...{ revision, status },
    ...(action !== undefined && { action }),
    chartName: chartName ?? "",
    chartVersion: chartVersion ?? "",
    appVersion: appVersion ?? "",
    ...(createdAtMs !== undefined && { deployedAt: formatTime(createdAtMs) }),
    tests: (known.tests ?? []).map(({ name, phase }) => ({ name, phase })),
    ...(known.digest !== undefined && { digest: known.digest }),
  };
}

function progressOf(result: DeploymentResult): ReleaseProgress {
  switch (result.kind) {
    case "pending":
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
