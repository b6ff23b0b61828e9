/** The Ready condition of HelmOps, Bundles and Clusters, from what is known of them. Pure. */
import type { BundleSummary } from "@flotilla/shared/api/summary.ts";
import type { BundleTargeting } from "../status/intent.ts";
import { type OfflineClusters, offlineRemark } from "./offline-clusters.ts";
import { readyMessage, worstState } from "./summarize.ts";

export interface Verdict {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** Whether all that a Bundle wants is there. `targeting`: of the Bundle's current generation, if that has been done. */
export function bundleVerdict(
  targeting: BundleTargeting | undefined,
  summary: BundleSummary,
  offline: OfflineClusters,
): Verdict {
  if (targeting?.error !== undefined)
    return { status: "False", reason: "Error", message: targeting.error };
  if (targeting === undefined)
    return { status: "Unknown", reason: "Progressing", message: "choosing the clusters" };
  const { missing = [], remarks = [] } = targeting;
  if (targeting.targets === 0 && summary.desiredReady === 0) {
    return {
      status: "True",
      reason: "NoTargets",
      message: ["no cluster matches any of the targets", ...missing, ...remarks].join("; "),
    };
  }
  const verdict = summaryVerdict(summary, "Cluster");
  return verdict.status === "True"
    ? { ...verdict, message: [...missing, ...remarks, ...offlineRemark(offline)].join("; ") }
    : verdict;
}

export function summaryVerdict(summary: BundleSummary, kind: "Bundle" | "Cluster"): Verdict {
  const worst = worstState(summary);
  if (worst === "") return { status: "True", reason: "Ready", message: "" };
  // What a cluster that sleeps has not confirmed is neither there nor has it failed.
  const status = worst === "Offline" ? "Unknown" : "False";
  return { status, reason: worst, message: readyMessage(summary, kind) };
}
