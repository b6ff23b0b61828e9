/** The status of a HelmRelease: what its reconcile decided, with what is rolled up from its Bundle. Pure. */
import {
  type Bundle,
  type BundleDeployment,
  type BundleSummary,
  type Condition,
  type LastResults,
  type LastSuccess,
  rolledOutCondition,
} from "@flotilla/shared/api";
import { findCondition, type NewCondition } from "@flotilla/shared/conditions";
import {
  type HelmRelease,
  type HelmReleaseStatus,
  maxReleaseClusters,
  type ReleaseCluster,
} from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { isUrgentChange } from "../../base/index.ts";
import {
  artifactFailed,
  bundleReady,
  chartNotFetched,
  holds,
  type OfflineClusters,
  valuesError,
} from "../../rules/index.ts";
import { type FluxCondition, fluxConditions } from "../../sources/index.ts";
import { withoutReleaseFields, withReleaseFields } from "./release-fields.ts";
import { uninstallReady } from "./uninstall.ts";

export interface HelmReleaseInputs {
  /** With the status that its reconcile decided. */
  readonly release: HelmRelease;
  /** Its Bundle, with the status that its reconcile decided. */
  readonly bundle: Bundle | undefined;
  readonly summary: BundleSummary;
  readonly offline: OfflineClusters;
  /** The conditions of its releases in all clusters. */
  readonly conditions: readonly NewCondition[];
  /** Stalled=True, when none of its releases that failed is tried again by itself. */
  readonly stalled?: NewCondition | undefined;
  /** What was last released in all its clusters. */
  readonly lastSuccess?: LastSuccess | undefined;
  readonly lastResults?: LastResults | undefined;
  /** What clusters received of a chart whose source does not say which bytes it means, where it differs. */
  readonly differing?: string | undefined;
  /** The deployments that need attention most, at most as many as are shown. */
  readonly deployments: readonly BundleDeployment[];
  /** The cluster of a deployment. */
  readonly clusterOf: (deployment: BundleDeployment) => ReleaseCluster;
  /** RFC 3339. */
  readonly now: string;
}

/** Reasons of Accepted=False that only a change by a person can help. */
const stalledReasons: ReadonlySet<string> = new Set([
  fluxReason.accessDenied,
  "Invalid",
  fluxReason.valuesError,
  "PolicyViolation",
  "NameTaken",
  fluxReason.invalidCELExpression,
]);

/** Undefined until the HelmRelease was reconciled once. */
export function helmReleaseStatus(inputs: HelmReleaseInputs): HelmReleaseStatus | undefined {
  const { release, bundle, summary, deployments, clusterOf, now } = inputs;
  const { status, metadata } = release;
  const { generation = 0 } = metadata;
  const accepted = findCondition(status?.conditions, "Accepted");
  // While it is suspended nothing is reported, as in Flux.
  if (status === undefined || accepted === undefined || release.spec?.suspend === true)
    return status;
  if (metadata.deletionTimestamp !== undefined) return uninstallStatus(inputs, status);
  const [only] = deployments;
  const isSingle = bundle?.status?.targets === 1 && only !== undefined && deployments.length === 1;
  const ofRelease = isSingle ? releaseConditionsOf(only) : inputs.conditions.map(toFlux);
  const ready = readyOf(inputs, accepted, isSingle ? only : undefined);
  const progress = progressOf(
    ready,
    accepted,
    isSingle ? findCondition(only.status?.conditions, fluxType.stalled) : inputs.stalled,
    isSingle ? findCondition(only.status?.conditions, fluxType.reconciling) : undefined,
  );
  const { rollout, conditions: ofBundle } = bundle?.status ?? {};
  const rolledOut = findCondition(ofBundle, rolledOutCondition);
  const desired: readonly FluxCondition[] = [
    ...progress,
    ready,
    ...ofRelease,
    ...(rolledOut === undefined ? [] : [toFlux(rolledOut)]),
    toFlux(accepted),
  ];
  const isSettled =
    ready.status === "True" || progress.some(({ type }) => type === fluxType.stalled);
  const isOfMany = (bundle?.status?.targets ?? 0) > 1;
  const { lastSuccess: _success, lastResults: _results, rollout: _rollout, ...kept } = status;
  const fields = isOfMany ? withoutReleaseFields(kept) : kept;
  return {
    ...(isSingle ? withReleaseFields(kept, only, bundle) : fields),
    ...(inputs.lastSuccess !== undefined && { lastSuccess: inputs.lastSuccess }),
    ...(inputs.lastResults !== undefined && { lastResults: inputs.lastResults }),
    ...(isSettled && { observedGeneration: generation }),
    conditions: fluxConditions(status.conditions, desired, {
      generation: accepted.observedGeneration ?? generation,
      now,
    }),
    ...(rollout !== undefined && { rollout }),
    ...(bundle !== undefined && { summary }),
    clusters: deployments.slice(0, maxReleaseClusters).map(clusterOf),
  };
}

/** While it is being deleted. */
function uninstallStatus(
  { release, summary, deployments, clusterOf, now }: HelmReleaseInputs,
  status: HelmReleaseStatus,
): HelmReleaseStatus {
  const { generation = 0 } = release.metadata;
  const ready = uninstallReady(deployments);
  const { reason, message } = ready;
  const desired: readonly FluxCondition[] = [
    {
      type: fluxType.reconciling,
      status: "True",
      message,
      reason: reason === fluxReason.uninstallFailed ? fluxReason.progressingWithRetry : reason,
    },
    ready,
    ...(status.conditions ?? []).filter(({ type }) => keptTypes.includes(type)).map(toFlux),
  ];
  return {
    ...status,
    conditions: fluxConditions(status.conditions, desired, { generation, now }),
    summary,
    clusters: deployments.slice(0, maxReleaseClusters).map(clusterOf),
  };
}

export function isUrgentHelmRelease(
  before: HelmReleaseStatus | undefined,
  after: HelmReleaseStatus,
): boolean {
  if (before?.lastHandledReconcileAt !== after.lastHandledReconcileAt) return true;
  return ["Accepted", fluxType.ready, fluxType.stalled].some((type) => {
    const next = findCondition(after.conditions, type);
    // Mostly it is ready within a second: one write less for each new HelmRelease.
    if (next?.reason === fluxReason.sourceNotReady) return false;
    return isUrgentChange(findCondition(before?.conditions, type), next);
  });
}

function readyOf(
  { release, bundle, summary, offline, differing }: HelmReleaseInputs,
  accepted: Condition,
  only: BundleDeployment | undefined,
): FluxCondition {
  const { generation = 0 } = release.metadata;
  const unknown = (message: string): FluxCondition => ({
    type: fluxType.ready,
    status: "Unknown",
    reason: fluxReason.progressing,
    message,
  });
  if (!holds(accepted, { status: "True", reason: undefined, generation }))
    return accepted.observedGeneration === generation
      ? {
          type: fluxType.ready,
          status: "False",
          reason: accepted.reason ?? "",
          message: accepted.message ?? "",
        }
      : unknown("reading the new spec");
  const { status, reason, message } = bundleReady(bundle, summary, offline);
  // Drift is a condition of its own, as in Flux.
  const isReady = status === "True" || reason === "Modified";
  const found = only?.status?.conditions ?? [];
  const remediated = findCondition(found, fluxType.remediated);
  const tested = findCondition(found, fluxType.testSuccess);
  const released = findCondition(found, fluxType.released);
  // It has nothing to release: what some cluster had before says nothing about it.
  if (reason === "NoTargets") return { type: fluxType.ready, status: "True", reason, message };
  if (isReady) {
    const why = tested?.status === "True" ? tested : released;
    return {
      type: fluxType.ready,
      status: "True",
      reason: why?.reason || fluxReason.reconciliationSucceeded,
      message: [
        withRemark(why?.message || message || "all releases are ready", found),
        differing ?? [],
      ]
        .flat()
        .join("; "),
    };
  }
  const unprepared = unpreparedOf(found);
  if (unprepared !== undefined)
    return {
      type: fluxType.ready,
      status: "False",
      ...unprepared,
      message: unprepared.message || message,
    };
  const failed = [remediated, tested?.status === "False" ? tested : undefined, released].find(
    (each) => each !== undefined && (each.status === "False" || each === remediated),
  );
  if (reason === "ErrApplied" || failed !== undefined)
    return {
      type: fluxType.ready,
      status: "False",
      reason: failed?.reason || fluxReason.reconcileError,
      message: failed?.message || message,
    };
  if (status === "Unknown" || progressing.has(reason)) {
    const waiting = findCondition(found, "Ready");
    // Agents before 0.4.0 do not say it.
    return findCondition(found, fluxType.reconciling)?.reason === fluxReason.dependencyNotReady
      ? {
          type: fluxType.ready,
          status: "False",
          reason: fluxReason.dependencyNotReady,
          message: waiting?.message ?? "",
        }
      : unknown(waiting?.message || message);
  }
  return { type: fluxType.ready, status: "False", reason, message };
}

/** With what the agent of the only cluster remarks on a release that is ready. */
function withRemark(message: string, conditions: readonly Condition[]): string {
  const ready = findCondition(conditions, "Ready");
  const remark = ready?.status === "True" ? (ready.message ?? "") : "";
  return remark === "" ? message : `${message}; ${remark}`;
}

/** What failed before Helm ran, so that what Helm did last says nothing about it. */
function unpreparedOf(
  conditions: readonly Condition[],
): { readonly reason: string; readonly message: string } | undefined {
  const deployed = findCondition(conditions, "Deployed");
  const stalled = findCondition(conditions, fluxType.stalled);
  const reason =
    unpreparedReasons.get(deployed?.reason ?? "") ??
    (stalledInputs.has(stalled?.reason ?? "") ? stalled?.reason : undefined);
  return reason === undefined
    ? undefined
    : { reason, message: deployed?.message || stalled?.message || "" };
}

/** Flux's reasons, by the reasons of the condition Deployed. */
const unpreparedReasons: ReadonlyMap<string, string> = new Map([
  [chartNotFetched, fluxReason.artifactFailed],
  [artifactFailed, fluxReason.artifactFailed],
  [valuesError, fluxReason.valuesError],
]);

/** Reasons of Stalled that are about what the release is made from. */
const stalledInputs: ReadonlySet<string> = new Set([
  fluxReason.valuesError,
  fluxReason.accessDenied,
  fluxReason.invalidCELExpression,
  fluxReason.pendingRelease,
]);

/** States that end by themselves. */
const progressing: ReadonlySet<string> = new Set(["Pending", "WaitApplied", "OutOfSync"]);

function progressOf(
  ready: FluxCondition,
  accepted: Condition,
  stalled: NewCondition | undefined,
  reconciling: Condition | undefined,
): readonly FluxCondition[] {
  if (ready.status === "True") return [];
  const { reason, message } = ready;
  // What was found for an earlier generation says nothing about this one.
  if (accepted.status === "False" && ready.status === "False")
    return stalledReasons.has(accepted.reason ?? "")
      ? [{ type: fluxType.stalled, status: "True", reason, message }]
      : [
          {
            type: fluxType.reconciling,
            status: "True",
            reason: fluxReason.progressingWithRetry,
            message,
          },
        ];
  if (stalled?.status === "True") return [toFlux(stalled)];
  // The next attempt runs already.
  if (reconciling?.status === "True" && reconciling.reason === fluxReason.progressing)
    return [toFlux(reconciling)];
  return [
    {
      type: fluxType.reconciling,
      status: "True",
      reason: ready.status === "Unknown" ? fluxReason.progressing : fluxReason.progressingWithRetry,
      message,
    },
  ];
}

const releaseTypes: readonly string[] = [
  fluxType.released,
  fluxType.testSuccess,
  fluxType.remediated,
  fluxType.drifted,
];
const keptTypes = [...releaseTypes, "Accepted"];

function releaseConditionsOf({ status }: BundleDeployment): readonly FluxCondition[] {
  return (status?.conditions ?? []).filter(({ type }) => releaseTypes.includes(type)).map(toFlux);
}

function toFlux({ type, status, reason, message }: NewCondition): FluxCondition {
  return { type, status, reason: reason || "Unknown", message: message ?? "" };
}
