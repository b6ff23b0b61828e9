/**
 * Short passes of staged rollouts: a report of one cluster, and the promotions that follow from it, without a pass over all clusters.
 * What a pass over all found is kept for them until anything else changes. That is a cache: without it each reconcile goes through all.
 */
import type { Bundle } from "@flotilla/shared/api";
import { type Result, requeueAfter } from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import type { DeploymentSigner } from "../../rules/index.ts";
import type { NextCluster, RolloutReports } from "../stages/rollout-reports.ts";
import type { Coalescer } from "./coalesce.ts";
import { stagedStep } from "./current-rollout.ts";
import type { DeploymentWriter } from "./deployment-writer.ts";
import { placementIn } from "./place.ts";
import { planDeployments } from "./plan-deployments.ts";

export interface ReportPasses {
  /** A cluster of a Bundle has reported. Whether a short pass follows, so that the Bundle is to be enqueued at once. */
  reported(bundle: ObjectKey, cluster: ObjectKey): boolean;
  /** Anything else has changed for a Bundle; absent: for any. */
  changed(bundle?: ObjectKey): void;
  /** A pass over all clusters begins. The function is called with what it found once all that it promotes is written. */
  begin(bundle: ObjectKey): (found: FoundReports) => void;
  /** Makes a short pass, if that is enough. */
  run(bundle: ObjectKey, deps: ReportPassDeps): Promise<ReportPass>;
}

/** What a pass over all clusters leaves behind. */
export interface FoundReports {
  /** As it was deployed. */
  readonly bundle: Bundle;
  /** Undefined: each report needs a pass over all. */
  readonly reports: RolloutReports | undefined;
  /** What it has promoted. */
  readonly promoted: readonly ObjectKey[];
}

/** `all`: a pass over all clusters has to be made, now or later. */
export type ReportPass =
  | { readonly kind: "all" }
  | { readonly kind: "made"; readonly result: Result };

export interface ReportPassDeps {
  readonly deployments: Pick<DeploymentWriter, "in" | "write" | "catchUp">;
  readonly signer: Pick<DeploymentSigner, "isSignedFor" | "signed">;
  readonly signal: AbortSignal;
}

/** Numbers in statuses are up to date after this time at the latest. */
const countsEveryMs = 1_000;

const passOverAll: ReportPass = { kind: "all" };

/** The reports of one Bundle. */
interface Followed {
  /** Clusters that have reported since the last pass began. */
  readonly moved: Set<ObjectKey>;
  /** A short pass was possible before the pass over all that runs now. */
  readonly wasShort: boolean;
  /** Undefined: a pass over all runs. */
  found: Found | undefined;
}

interface Found {
  readonly bundle: Bundle;
  readonly reports: RolloutReports;
  /** When the numbers of short passes are due, ms since 1970; undefined: there was none. */
  dueAtMs: number | undefined;
}

export function createReportPasses(clock: Pick<Clock, "now">, coalescer: Coalescer): ReportPasses {
  const followed = new Map<ObjectKey, Followed>();

  /** The numbers of many reports are in one pass over all, and those that follow from each other are not one each. */
  function evaluateAll(bundle: ObjectKey): ReportPass {
    followed.delete(bundle);
    const delayMs = coalescer.delayOf(bundle);
    if (delayMs === 0) return passOverAll;
    return { kind: "made", result: requeueAfter(delayMs, "clusters have reported") };
  }

  return {
    reported(bundle, cluster) {
      const own = followed.get(bundle);
      if (own === undefined) return false;
      own.moved.add(cluster);
      return own.found !== undefined || own.wasShort;
    },
    changed(bundle) {
      if (bundle === undefined) followed.clear();
      else followed.delete(bundle);
    },
    begin(bundle) {
      const before = followed.get(bundle);
      const wasShort = before !== undefined && (before.found !== undefined || before.wasShort);
      const own: Followed = { moved: new Set(), wasShort, found: undefined };
      followed.set(bundle, own);
      return ({ bundle: deployed, reports, promoted }) => {
        // Anything else may have changed while it ran.
        if (followed.get(bundle) !== own) return;
        if (reports === undefined || !promoted.every(reports.move)) followed.delete(bundle);
        else own.found = { bundle: deployed, reports, dueAtMs: undefined };
      };
    },
    async run(bundle, deps) {
      const own = followed.get(bundle);
      const found = own?.found;
      if (own === undefined || found === undefined) return passOverAll;
      const isDue = found.dueAtMs !== undefined && clock.now() >= found.dueAtMs;
      // Whatever enqueued it without a report needs a pass over all.
      if (isDue || own.moved.size === 0 || !found.reports.isValid()) return passOverAll;
      const moved = [...own.moved];
      own.moved.clear();
      if (!moved.every(found.reports.move)) return evaluateAll(bundle);
      const next = found.reports.next();
      if (next === undefined) return evaluateAll(bundle);
      if (next.length > 0) {
        if (await deps.deployments.catchUp(found.bundle, deps.signal)) return passOverAll;
        if (!(await promote(found.bundle, next, deps))) return evaluateAll(bundle);
        if (!next.every(({ cluster }) => found.reports.move(keyOf(cluster))))
          return evaluateAll(bundle);
      }
      found.dueAtMs ??= clock.now() + countsEveryMs;
      const afterMs = Math.max(0, found.dueAtMs - clock.now());
      return { kind: "made", result: requeueAfter(afterMs, "numbers") };
    },
  };
}

/** False: there was a deployment that our cache does not have. */
async function promote(
  bundle: Bundle,
  next: readonly NextCluster[],
  { deployments, signer, signal }: ReportPassDeps,
): Promise<boolean> {
  const steps = next.map(({ cluster, gets }) => {
    const placement = placementIn(bundle, cluster, { ...gets, isSuspended: false });
    return stagedStep({ placement, gets, holdsForce: false, isOffSchedule: false });
  });
  const existing = next.flatMap(({ cluster }) => deployments.in(bundle, cluster) ?? []);
  // Only of clusters that are promoted: no window closes any of them.
  const options = { signer, isOffSchedule: () => false };
  const plan = planDeployments(bundle, steps, existing, options);
  return !(await deployments.write(plan, signal));
}
