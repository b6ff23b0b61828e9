/**
 * What was last released in all clusters of a Bundle, as its status stores it: an event about a success is due when another
 * release is. One deployment stands for all of them, the same one as long as it can: clusters that join or leave change
 * nothing about what the others have. Pure.
 */

import type { BundleDeployment, BundleSummary, LastSuccess } from "@flotilla/shared/api";
import { fluxType } from "@flotilla/shared/flux/reasons";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { BundleAggregate } from "./bundle-aggregate.ts";
import { releaseConditionKey } from "./release-conditions.ts";

/** Deployments among which one that can stand for all is looked for. */
const mostLookedAt = 100;

export interface LastSuccessInput {
  readonly aggregate: Pick<BundleAggregate, "total" | "conditions">;
  readonly summary: BundleSummary;
  readonly known: LastSuccess | undefined;
  readonly lookUp: (key: ObjectKey) => BundleDeployment | undefined;
  readonly isOffline: (deployment: BundleDeployment) => boolean;
}

/** The known one as long as not all connected clusters have their release; undefined once nothing is deployed. */
export function lastSuccess(input: LastSuccessInput): LastSuccess | undefined {
  const { aggregate, summary, known, lookUp, isOffline } = input;
  if (summary.desiredReady === 0) return undefined;
  if (!isSettled(summary, aggregate)) return known;
  const current = known && lookUp(known.deployment);
  if (current?.metadata.uid === known?.uid && isReleased(current) && !isOffline(current))
    return successOf(known?.deployment ?? "", current);
  const candidates = (
    aggregate.conditions.get(released("True"))?.first(mostLookedAt) ?? []
  ).flatMap((key) => {
    const deployment = lookUp(key);
    return deployment === undefined || isOffline(deployment) ? [] : [successOf(key, deployment)];
  });
  return candidates.find(({ version }) => version === known?.version) ?? candidates[0] ?? known;
}

/**
 * Whether it is another release than the one before. Of another deployment only the version counts: its revisions are its
 * own, and it may have been released long ago.
 */
export function isOtherSuccess(before: LastSuccess, after: LastSuccess): boolean {
  if (before.version !== after.version) return true;
  return before.uid === after.uid && before.release !== after.release;
}

/** Whether nothing is on its way to a connected cluster, and no release failed. */
function isSettled(
  { errApplied = 0, waitApplied = 0, pending = 0, outOfSync = 0 }: BundleSummary,
  { conditions }: LastSuccessInput["aggregate"],
): boolean {
  const others = ["False", "Unknown"].some((status) => conditions.has(released(status)));
  return errApplied + waitApplied + pending + outOfSync === 0 && !others;
}

function released(status: string): string {
  return releaseConditionKey(fluxType.released, status);
}

function isReleased(deployment: BundleDeployment | undefined): deployment is BundleDeployment {
  const conditions = deployment?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === fluxType.released && status === "True");
}

function successOf(key: ObjectKey, { metadata, status }: BundleDeployment): LastSuccess {
  return {
    deployment: key,
    uid: metadata.uid ?? "",
    release: status?.release ?? "",
    version: status?.version ?? "",
  };
}
