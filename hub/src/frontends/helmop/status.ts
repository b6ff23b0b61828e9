/** The status of a HelmOp: what its reconcile decided, with what is rolled up from its Bundle. Pure. */
import {
  type Bundle,
  type BundleSummary,
  type HelmOp,
  type HelmOpStatus,
  type LastResults,
  type LastSuccess,
  rolledOutCondition,
} from "@flotilla/shared/api";
import { findCondition, type NewCondition, setConditions } from "@flotilla/shared/conditions";
import { fluxType } from "@flotilla/shared/flux/reasons";
import { isUrgentChange } from "../../base/index.ts";
import {
  type Aggregate,
  type Archives,
  bundleReady,
  type ConditionState,
  chartReferenceOf,
  commonVersion,
  differingArchives,
  entryFor,
  type OfflineClusters,
  rollUp,
  summedConditionTypes,
} from "../../rules/index.ts";
import { helmOpConditions } from "./conditions.ts";

export interface HelmOpInputs {
  /** With the status that its reconcile decided. */
  readonly helmOp: HelmOp;
  /** Its Bundle, with the status that its reconcile decided. */
  readonly bundle: Bundle | undefined;
  readonly summary: BundleSummary;
  readonly aggregate: Aggregate;
  readonly offline: OfflineClusters;
  /** The conditions of its releases. */
  readonly conditions: readonly NewCondition[];
  /** Stalled=True, when none of its releases that failed is tried again by itself. */
  readonly stalled?: NewCondition | undefined;
  /** The start of an attempt that takes long whose last one failed, in ms since 1970. */
  readonly retryingSinceMs?: number | undefined;
  /** What was last released in all its clusters. */
  readonly lastSuccess?: LastSuccess | undefined;
  readonly lastResults?: LastResults | undefined;
  /** What the clusters have installed. */
  readonly archives: Archives;
  /** The objects of its Bundle over all clusters, and by cluster, within bounds. */
  readonly resources: NonNullable<HelmOpStatus["resources"]>;
  readonly perClusterResourceCounts: NonNullable<HelmOpStatus["perClusterResourceCounts"]>;
  /** RFC 3339. */
  readonly now: string;
}

/** Conditions that exist only while they apply. */
const optional: ReadonlySet<string> = new Set([
  "Polled",
  rolledOutCondition,
  ...summedConditionTypes,
]);

/** Undefined until the HelmOp was reconciled once. */
export function helmOpStatus(inputs: HelmOpInputs): HelmOpStatus | undefined {
  const { helmOp, bundle, summary, aggregate, offline, archives, lastSuccess, lastResults, now } =
    inputs;
  const { status } = helmOp;
  if (status?.observedGeneration === undefined) return undefined;
  const {
    offlineClusterCount: _count,
    offlineClusters: _offline,
    lastSuccess: _success,
    lastResults: _results,
    rollout: _rollout,
    ...kept
  } = status;
  const { observedGeneration } = status;
  const own = helmOpConditions({
    helmOp,
    status,
    ready: readyState(inputs, status),
    summary,
    releases: inputs.stalled,
    retryingSinceMs: inputs.retryingSinceMs,
    differing: differingArchives(archives, bundle?.status?.uncheckedContents ?? {}),
  });
  const { rollout, conditions: ofBundle } = bundle?.status ?? {};
  const rolledOut = findCondition(ofBundle, rolledOutCondition) ?? [];
  const desired = [own, inputs.conditions, rolledOut].flat().map((condition) => ({
    ...condition,
    observedGeneration,
  }));
  const version = versionOf(helmOp, aggregate);
  return {
    ...kept,
    ...rollUp(summary, aggregate, offline),
    ...(lastSuccess !== undefined && { lastSuccess }),
    ...(lastResults !== undefined && { lastResults }),
    ...(rollout !== undefined && { rollout }),
    resources: inputs.resources,
    perClusterResourceCounts: inputs.perClusterResourceCounts,
    conditions: setConditions(status.conditions ?? [], desired, now).filter(
      ({ type }) => !optional.has(type) || desired.some((condition) => condition.type === type),
    ),
    ...(version !== undefined && { version }),
  };
}

/** Whether a user or a script waits for a change, or a crash must not lose it. */
export function isUrgentHelmOp(before: HelmOpStatus | undefined, after: HelmOpStatus): boolean {
  if (
    before?.version !== after.version ||
    before?.lastHandledReconcileAt !== after.lastHandledReconcileAt ||
    isTrue(before, fluxType.stalled) !== isTrue(after, fluxType.stalled) ||
    // The backoff of a failed attempt.
    (before?.polling?.failures ?? 0) !== (after.polling?.failures ?? 0) ||
    (before?.pinCheck?.count ?? 0) < (after.pinCheck?.count ?? 0)
  )
    return true;
  return ["Accepted", "Polled", "Ready"].some((type) =>
    isUrgentChange(findCondition(before?.conditions, type), findCondition(after.conditions, type)),
  );
}

/** An archive at a bare address has the version that clusters report. */
function versionOf({ spec, status }: HelmOp, aggregate: Aggregate): string | undefined {
  const own = entryFor(status?.pins ?? [], chartReferenceOf(spec.helm ?? {}))?.pin;
  return own?.kind === "tarball" ? commonVersion(aggregate) : status?.version;
}

function readyState(inputs: HelmOpInputs, status: HelmOpStatus): ConditionState {
  const { helmOp, bundle, summary, offline } = inputs;
  if (status.observedGeneration !== helmOp.metadata.generation)
    return { status: "Unknown", reason: "Progressing", message: "reading the new spec" };
  const accepted = findCondition(status.conditions, "Accepted");
  if (accepted?.observedGeneration !== status.observedGeneration)
    return { status: "Unknown", reason: "Progressing", message: "resolving the chart's version" };
  const { message = "" } = accepted ?? {};
  const isAccepted = accepted?.status === "True";
  if (!isAccepted && bundle === undefined) return { status: "False", reason: "Error", message };
  const ready = bundleReady(bundle, summary, offline);
  // The last accepted spec is deployed, and `kubectl get` shows only this message.
  return isAccepted || ready.status !== "True"
    ? ready
    : { ...ready, message: `deployed as accepted before; not accepted: ${message}` };
}

function isTrue(status: HelmOpStatus | undefined, type: string): boolean {
  return findCondition(status?.conditions, type)?.status === "True";
}
