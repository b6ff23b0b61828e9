/** The status of a HelmOp, from its intent and its Bundle. Pure. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { Condition } from "@flotilla/shared/api/condition.ts";
import type { HelmOp, HelmOpStatus } from "@flotilla/shared/api/helm-op.ts";
import type { BundleSummary } from "@flotilla/shared/api/summary.ts";
import { findCondition, setConditions } from "@flotilla/shared/conditions/condition.ts";
import type { BundleTargeting, HelmOpIntent } from "../status/intent.ts";
import { isNews } from "../status/urgency.ts";
import { commonVersion, type Tally } from "../summary/aggregate.ts";
import { type Archives, differingArchives } from "../summary/archives.ts";
import type { OfflineClusters } from "../summary/offline-clusters.ts";
import { bundleVerdict, summaryVerdict, type Verdict } from "../summary/ready-condition.ts";
import { rollUp } from "../summary/roll-up.ts";
import { worstState } from "../summary/summarize.ts";
import { helmOpConditions } from "./conditions.ts";

export interface HelmOpInputs {
  readonly helmOp: HelmOp;
  readonly intent: HelmOpIntent;
  readonly bundle: Bundle | undefined;
  readonly targeting: BundleTargeting | undefined;
  readonly summary: BundleSummary;
  readonly tally: Tally;
  /** Those of its clusters of which nothing is heard. */
  readonly offline: OfflineClusters;
  /** What the clusters have installed. */
  readonly archives: Archives;
  /** The objects of its Bundle over all clusters, and by cluster, in bounds. */
  readonly resources: NonNullable<HelmOpStatus["resources"]>;
  readonly perClusterResourceCounts: NonNullable<HelmOpStatus["perClusterResourceCounts"]>;
  /** RFC 3339. */
  readonly now: string;
}

/** Conditions that are there only while they have something to say. */
const passing: ReadonlySet<string> = new Set(["Polled"]);

export function helmOpStatus(inputs: HelmOpInputs): HelmOpStatus {
  const { helmOp, intent, summary, tally, offline, now } = inputs;
  const before = helmOp.status;
  const { offlineClusterCount: _, offlineClusters: __, ...kept } = before ?? {};
  const observedGeneration = intent.generation;
  const wanted = helmOpConditions(withArchives(inputs), readyVerdict(inputs), summary, before);
  const conditions = setConditions(
    before?.conditions ?? [],
    wanted.map((condition) => ({ ...condition, observedGeneration })),
    now,
  ).filter(({ type }) => !passing.has(type) || wanted.some((condition) => condition.type === type));
  const version = intent.version === "" ? commonVersion(tally) : intent.version;
  return {
    ...kept,
    ...rollUp(summary, tally, offline),
    observedGeneration,
    resources: inputs.resources,
    perClusterResourceCounts: inputs.perClusterResourceCounts,
    conditions,
    ...(intent.polled !== undefined && { lastPollingTriggered: intent.polled.at }),
    ...(intent.handled?.reconcile !== undefined && {
      lastHandledReconcileAt: intent.handled.reconcile,
    }),
    ...(intent.handled?.poll !== undefined && { lastHandledPollRequest: intent.handled.poll }),
    ...(version !== undefined && { version }),
  };
}

/** A change that a person or a script waits for. */
export function isHelmOpNews(before: HelmOpStatus | undefined, after: HelmOpStatus): boolean {
  if (
    before?.version !== after.version ||
    before?.lastHandledReconcileAt !== after.lastHandledReconcileAt ||
    isHolding(before, "Stalled") !== isHolding(after, "Stalled")
  )
    return true;
  return ["Accepted", "Polled", "Ready"].some((type) =>
    isNews(findCondition(before?.conditions, type), findCondition(after.conditions, type)),
  );
}

/** With what the clusters have found since it was resolved, where that is worth knowing. */
function withArchives(inputs: HelmOpInputs): HelmOpIntent {
  const { intent, archives, targeting } = inputs;
  if (intent.accepted?.ok !== true) return intent;
  const told = stillTold(inputs, "Accepted");
  if (told?.status === "True")
    return { ...intent, accepted: { ok: true, message: told.message ?? "" } };
  const differing = differingArchives(archives, targeting?.unchecked ?? new Map());
  if (differing === undefined) return intent;
  const { message } = intent.accepted;
  return {
    ...intent,
    accepted: { ok: true, message: message === undefined ? differing : `${message}; ${differing}` },
  };
}

/**
 * The condition as it was told last, where that still counts: who leads anew has not looked at the Bundle yet, and as long as
 * HelmOp and Bundle are what they were then, it is no less true for that.
 */
function stillTold(
  { helmOp, intent, bundle, targeting }: HelmOpInputs,
  type: string,
): Condition | undefined {
  const isUnlooked =
    targeting === undefined &&
    bundle !== undefined &&
    bundle.status?.observedGeneration === bundle.metadata.generation;
  const told = findCondition(helmOp.status?.conditions, type);
  return isUnlooked && told?.observedGeneration === intent.generation ? told : undefined;
}

function readyVerdict(inputs: HelmOpInputs): Verdict {
  const { helmOp, intent, bundle, targeting, summary, offline } = inputs;
  if (intent.generation !== helmOp.metadata.generation)
    return { status: "Unknown", reason: "Progressing", message: "reading the change" };
  const { accepted } = intent;
  if (accepted === undefined)
    return { status: "Unknown", reason: "Progressing", message: "looking for the chart's version" };
  if (!accepted.ok && bundle === undefined)
    return { status: "False", reason: "Error", message: accepted.message };
  const told = stillTold(inputs, "Ready");
  if (told !== undefined && (told.status !== "True" || worstState(summary) === ""))
    return { status: told.status, reason: told.reason ?? "", message: told.message ?? "" };
  // That one fails meanwhile needs no look at the Bundle.
  if (told !== undefined) return summaryVerdict(summary, "Cluster");
  const current =
    targeting !== undefined && targeting.generation === bundle?.metadata.generation
      ? targeting
      : undefined;
  const verdict = bundleVerdict(current, summary, offline);
  // That it is as it should be is true of what was accepted before, and `kubectl get` shows nothing but this message.
  return accepted.ok || verdict.status !== "True"
    ? verdict
    : { ...verdict, message: `as accepted before; not accepted: ${accepted.message}` };
}

function isHolding(status: HelmOpStatus | undefined, type: string): boolean {
  return findCondition(status?.conditions, type)?.status === "True";
}
