/** The status of a Bundle: what its reconcile decided, with what is rolled up from its BundleDeployments. Pure. */
import { isDeepStrictEqual } from "node:util";
import type {
  Bundle,
  BundleStatus,
  BundleSummary,
  LastResults,
  LastSuccess,
} from "@flotilla/shared/api";
import { findCondition, type NewCondition, setConditions } from "@flotilla/shared/conditions";
import { fluxType } from "@flotilla/shared/flux/reasons";
import { isUrgentChange } from "../../base/index.ts";
import {
  type Aggregate,
  bundleReady,
  countsText,
  type OfflineClusters,
  offlineFields,
  summedConditionTypes,
  worstState,
} from "../../rules/index.ts";

export interface BundleInputs {
  /** With the status that its reconcile decided. */
  readonly bundle: Bundle;
  readonly summary: BundleSummary;
  readonly aggregate: Aggregate;
  readonly offline: OfflineClusters;
  /** The conditions of its releases. */
  readonly conditions: readonly NewCondition[];
  /** Stalled=True, when none of its releases that failed is tried again by itself. */
  readonly stalled?: NewCondition | undefined;
  /** What was last released in all its clusters. */
  readonly lastSuccess?: LastSuccess | undefined;
  readonly lastResults?: LastResults | undefined;
  /** RFC 3339. */
  readonly now: string;
}

/** Conditions that exist only while they apply. */
const optional: ReadonlySet<string> = new Set([fluxType.stalled, ...summedConditionTypes]);

/** Undefined until the Bundle was reconciled once. */
export function bundleStatus({
  bundle,
  summary,
  aggregate,
  offline,
  conditions,
  stalled,
  lastSuccess,
  lastResults,
  now,
}: BundleInputs): BundleStatus | undefined {
  if (bundle.status === undefined) return undefined;
  const {
    offlineClusterCount: _count,
    offlineClusters: _offline,
    lastSuccess: _success,
    lastResults: _results,
    ...kept
  } = bundle.status;
  const state = worstState(summary);
  const counts = countsText(summary);
  const ready = bundleReady(bundle, summary, offline);
  const { observedGeneration } = kept;
  const ofReleases = [...conditions, ...(stalled === undefined ? [] : [stalled])];
  return {
    ...kept,
    conditions: setConditions(
      kept.conditions ?? [],
      [{ type: "Ready", ...ready }, ...ofReleases].map((each) => ({ ...each, observedGeneration })),
      now,
    ).filter(({ type }) => !optional.has(type) || ofReleases.some((each) => each.type === type)),
    summary,
    ...(lastSuccess !== undefined && { lastSuccess }),
    ...(lastResults !== undefined && { lastResults }),
    ...offlineFields(offline),
    resourceCounts: { ...aggregate.resources },
    display: {
      readyClusters: `${summary.ready}/${summary.desiredReady}`,
      ...(counts !== "" && { counts }),
      ...(state !== "" && { state }),
    },
  };
}

export function isUrgentBundle(before: BundleStatus | undefined, after: BundleStatus): boolean {
  // Pins are deployed once the API server has them, and a crash must not lose the backoff of a failed attempt.
  if (
    !isDeepStrictEqual(before?.pins, after.pins) ||
    (before?.resolution?.failures ?? 0) !== (after.resolution?.failures ?? 0) ||
    (before?.pinCheck?.count ?? 0) < (after.pinCheck?.count ?? 0)
  )
    return true;
  return isUrgentChange(
    findCondition(before?.conditions, "Ready"),
    findCondition(after.conditions, "Ready"),
  );
}
