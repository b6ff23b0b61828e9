/** The Ready condition of HelmOps, Bundles and Clusters. Pure; nothing else sets it. */
import type { Bundle, BundleStatus, BundleSummary } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { ConditionState } from "../frontend/accepted.ts";
import { rolloutWaitText } from "../rollout/rollout-status.ts";
import { type OfflineClusters, offlineRemark } from "./offline-clusters.ts";
import { readyMessage, worstState } from "./summarize.ts";

const choosing: ConditionState = {
  status: "Unknown",
  reason: "Progressing",
  message: "choosing the clusters",
};

/** Whether all that a Bundle deploys is ready, from its Accepted condition and the summary of its deployments. */
export function bundleReady(
  bundle: Bundle | undefined,
  summary: BundleSummary,
  offline: OfflineClusters,
): ConditionState {
  const { observedGeneration, conditions, targets = 0 } = bundle?.status ?? {};
  const accepted = findCondition(conditions, "Accepted");
  const isObserved =
    observedGeneration !== undefined &&
    observedGeneration === bundle?.metadata.generation &&
    accepted?.observedGeneration === observedGeneration;
  if (!isObserved) return choosing;
  const { message = "" } = accepted;
  if (accepted.status === "False") return { status: "False", reason: "Error", message };
  const notes = message === "" ? [] : [message];
  if (targets === 0 && summary.desiredReady === 0) {
    return {
      status: "True",
      reason: "NoTargets",
      message: ["no cluster matches any of the targets", ...notes].join("; "),
    };
  }
  const ready = summaryReady(summary, "Cluster");
  const staged = stagedText(bundle.status?.rollout);
  if (ready.status === "True")
    return { ...ready, message: [...staged, ...notes, ...offlineRemark(offline)].join("; ") };
  if (staged.length > 0) return { ...ready, message: [...staged, ready.message].join("; ") };
  // What a rollout leaves out explains what is pending.
  if (bundle.status?.partitions == null || bundle.status.rollout !== undefined) return ready;
  const waits = rolloutWaitText(bundle.status);
  return {
    ...ready,
    message: [...(waits === undefined ? [] : [waits]), ready.message, ...notes].join("; "),
  };
}

/** What all clusters have and are ready with may be another version: `kubectl get` shows this message. */
function stagedText(rollout: BundleStatus["rollout"]): readonly string[] {
  const { phase, message = "" } = rollout ?? {};
  // All clusters have what the app asks for, as far as they are to have it; clusters that come late may wait.
  const isDone = phase === "Superseded" || (phase === "Completed" && message === "");
  if (phase === undefined || isDone) return [];
  return [`rollout ${phase}${message === "" ? "" : `: ${message}`}`];
}

export function summaryReady(summary: BundleSummary, kind: "Bundle" | "Cluster"): ConditionState {
  const worst = worstState(summary);
  if (worst === "") return { status: "True", reason: "Ready", message: "" };
  // An offline cluster has neither confirmed nor failed.
  const status = worst === "Offline" ? "Unknown" : "False";
  return { status, reason: worst, message: readyMessage(summary, kind) };
}

/**
 * How many of a Bundle's deployments are still to be created, beyond the `created` ones. Before the Bundle was reconciled as
 * many are desired as its summary says.
 */
export function pendingDeployments(
  { targets, summary }: Pick<BundleStatus, "targets" | "summary">,
  created: number,
): number {
  return Math.max(0, (targets ?? summary?.desiredReady ?? 0) - created);
}
