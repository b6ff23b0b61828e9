/** What `readyExpr` reads of a deployment: metadata of its Bundle, and its status in this cluster. Without values. Pure. */
import type { DeploymentState } from "@flotilla/proto";
import type { BundleState } from "@flotilla/shared/api";
import { bundleNamespaceLabel } from "@flotilla/shared/api/names";

export interface ViewedDeployment {
  readonly name: string;
  /** The labels of its Bundle. */
  readonly labels: Readonly<Record<string, string>>;
  readonly state: BundleState;
  /** What is reported of it; absent before its first reconcile. */
  readonly report?: DeploymentState | undefined;
  /** The content to be installed. */
  readonly deploymentId: string;
}

export type DeploymentView = Readonly<Record<string, unknown>>;

/**
 * As a Flux HelmRelease. There is one generation in a cluster: the content that the hub has sent, which is observed when the
 * report is about it.
 */
export function deploymentView({ name, labels, ...deployment }: ViewedDeployment): DeploymentView {
  return {
    metadata: { name, namespace: labels[bundleNamespaceLabel] ?? "", labels, generation: 1 },
    status: statusView(deployment),
  };
}

/** Also for comparing: an expression has another result only after a change of it. */
export function statusView({
  state,
  report,
  deploymentId,
}: Omit<ViewedDeployment, "name" | "labels">): DeploymentView {
  const observed = report?.phase !== "pending" && report?.deploymentId === deploymentId;
  const observedGeneration = observed ? 1 : 0;
  const { release, message = "" } = report ?? {};
  const ready = { type: "Ready", status: state === "Ready" ? "True" : "False", reason: state };
  return {
    state,
    ready: report?.ready ?? false,
    message,
    observedGeneration,
    conditions: [{ ...ready, message }, ...(report?.conditions ?? [])].map((condition) => ({
      ...condition,
      observedGeneration,
    })),
    ...(release !== undefined && {
      release: {
        name: release.name,
        namespace: release.namespace,
        revision: release.revision,
        chartVersion: release.chartVersion,
        appVersion: release.appVersion,
      },
    }),
    history: (report?.history ?? []).map((each) => ({
      version: each.revision,
      status: each.status,
      chartName: each.chartName,
      chartVersion: each.chartVersion,
      appVersion: each.appVersion,
      ...(each.deployedAt !== undefined && { lastDeployed: each.deployedAt }),
    })),
  };
}
