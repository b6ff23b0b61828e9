/** The status of a Bundle, from its BundleDeployments. Pure. */
import { isDeepStrictEqual } from "node:util";
import type { Bundle, BundleStatus } from "@flotilla/shared/api/bundle.ts";
import type { BundleSummary } from "@flotilla/shared/api/summary.ts";
import { findCondition, setConditions } from "@flotilla/shared/conditions/condition.ts";
import type { BundleTargeting } from "../status/intent.ts";
import { isNews } from "../status/urgency.ts";
import type { Tally } from "../summary/aggregate.ts";
import { type OfflineClusters, offlineFields } from "../summary/offline-clusters.ts";
import { bundleVerdict } from "../summary/ready-condition.ts";
import { countsText, worstState } from "../summary/summarize.ts";

export interface BundleInputs {
  readonly bundle: Bundle;
  readonly targeting: BundleTargeting;
  readonly summary: BundleSummary;
  readonly tally: Tally;
  /** Those of its clusters of which nothing is heard. */
  readonly offline: OfflineClusters;
  /** RFC 3339. */
  readonly now: string;
}

export function bundleStatus({
  bundle,
  targeting,
  summary,
  tally,
  offline,
  now,
}: BundleInputs): BundleStatus {
  const isCurrent =
    targeting.generation === bundle.metadata.generation && targeting.isResolving !== true;
  const current = isCurrent ? targeting : undefined;
  const {
    pins: keptPins = [],
    offlineClusterCount: _,
    offlineClusters: __,
    ...before
  } = bundle.status ?? {};
  const pins = targeting.pins ?? keptPins;
  const state = worstState(summary);
  const counts = countsText(summary);
  return {
    ...before,
    ...(pins.length > 0 && { pins }),
    ...(targeting.version !== undefined && { version: targeting.version }),
    ...(targeting.handled !== undefined && { lastHandledReconcileAt: targeting.handled }),
    conditions: setConditions(
      bundle.status?.conditions ?? [],
      [
        {
          type: "Ready",
          ...bundleVerdict(current, summary, offline),
          observedGeneration: targeting.generation,
        },
      ],
      now,
    ),
    observedGeneration: targeting.generation,
    summary,
    ...offlineFields(offline),
    resourceCounts: { ...tally.resources },
    display: {
      readyClusters: `${summary.ready}/${summary.desiredReady}`,
      ...(counts !== "" && { counts }),
      ...(state !== "" && { state }),
    },
  };
}

export function isBundleNews(before: BundleStatus | undefined, after: BundleStatus): boolean {
  // What its charts came to is handed out once it is kept here.
  if (!isDeepStrictEqual(before?.pins, after.pins)) return true;
  return isNews(
    findCondition(before?.conditions, "Ready"),
    findCondition(after.conditions, "Ready"),
  );
}
