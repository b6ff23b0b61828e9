/** Whether the releases of a Bundle have come to a halt: none that failed is tried again by itself. Pure. */

import type { BundleDeployment, BundleState } from "@flotilla/shared/api";
import { findCondition, type NewCondition } from "@flotilla/shared/conditions";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { cutText } from "@flotilla/shared/text";
import type { SortedKeys } from "./sorted-keys.ts";

/** What a deployment does in a cluster that is connected: it has failed for good, or its agent works on it. */
export type Effort = "stalled" | "working";

/** The reasons of an agent, when there are no retries left. */
const reasons: ReadonlySet<string> = new Set([
  fluxReason.retriesExceeded,
  fluxReason.missingRollbackTarget,
]);

const messageChars = 512;

/** Whether its agent has given it up: only a change or a request starts Helm again. */
export function hasNoRetriesLeft({ status }: BundleDeployment): boolean {
  const stalled = findCondition(status?.conditions, fluxType.stalled);
  return stalled?.status === "True" && reasons.has(stalled.reason ?? "");
}

/** Undefined: neither, as of what is ready, of what no agent reports about, and of what waits for a change. */
export function effortOf(
  deployment: BundleDeployment,
  { state, isOffline }: { readonly state: BundleState; readonly isOffline: boolean },
): Effort | undefined {
  const { status } = deployment;
  if (isOffline) return undefined;
  if (state === "WaitApplied") return "working";
  // A change in the cluster corrects the others: they are not tried again by themselves either, but have not failed for good.
  if (findCondition(status?.conditions, fluxType.stalled)?.status === "True")
    return hasNoRetriesLeft(deployment) ? "stalled" : undefined;
  if (state === "ErrApplied") return "working";
  return findCondition(status?.conditions, fluxType.reconciling)?.status === "True"
    ? "working"
    : undefined;
}

export interface StalledInput {
  readonly aggregate: {
    readonly total: number;
    readonly efforts: ReadonlyMap<Effort, SortedKeys>;
  };
  readonly lookUp: (key: ObjectKey) => BundleDeployment | undefined;
  /** The cluster of a deployment. */
  readonly nameOf: (deployment: BundleDeployment) => string;
}

/**
 * The condition Stalled with an agent's reason. Undefined while any of them is worked on. What a rollout holds back, and what waits
 * in an offline cluster, is worked on by nobody.
 */
export function stalledReleases(input: StalledInput): NewCondition | undefined {
  const { aggregate, lookUp, nameOf } = input;
  const stalled = aggregate.efforts.get("stalled");
  if (stalled === undefined || (aggregate.efforts.get("working")?.size ?? 0) > 0) return undefined;
  const [key] = stalled.first(1);
  const deployment = key === undefined ? undefined : lookUp(key);
  const example = findCondition(deployment?.status?.conditions, fluxType.stalled);
  if (deployment === undefined || example === undefined) return undefined;
  const message = cutText(`${nameOf(deployment)}: ${example.message ?? ""}`, messageChars);
  return {
    type: fluxType.stalled,
    status: "True",
    reason: example.reason ?? "",
    message: `${stalled.size} of ${aggregate.total} clusters; ${message}`,
  };
}
