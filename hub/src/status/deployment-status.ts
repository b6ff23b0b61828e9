/** The status of a BundleDeployment, from what its agent reported last. Pure. */

import type { DeploymentState, ResourceState } from "@flotilla/proto/messages.ts";
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from "@flotilla/shared/api/bundle-deployment.ts";
import { chartErrors } from "@flotilla/shared/charts/errors.ts";
import { findCondition, setConditions } from "@flotilla/shared/conditions/condition.ts";
import { stateOf } from "../rollup/deployment-state.ts";
import { isNews } from "./news.ts";

/** The reason of Deployed where the chart could not be fetched as it was pinned, so that the pin is in doubt. */
export const chartNotFetched = "ChartNotFetched";

const fetchFailures: ReadonlySet<string> = new Set([
  chartErrors.CHART_DOWNLOAD.code,
  chartErrors.CHART_DIGEST_MISMATCH.code,
]);

/** A report, and where it stands among the reports of its cluster. */
export interface PlacedReport {
  readonly epoch: number;
  readonly sequence: number;
  readonly state: DeploymentState;
}

/** Whether a report is older than the one that the status already tells of. */
export function isOutdated(
  report: PlacedReport,
  status: BundleDeploymentStatus | undefined,
): boolean {
  const known = status?.agent;
  if (known === undefined) return false;
  return (
    report.epoch < known.epoch ||
    (report.epoch === known.epoch && report.sequence <= known.sequence)
  );
}

export function deploymentStatus(
  deployment: BundleDeployment,
  report: PlacedReport,
  now: string,
): BundleDeploymentStatus {
  const before = deployment.status;
  const { state } = report;
  const installed = state.phase === "deployed";
  const next: BundleDeploymentStatus = {
    ...before,
    conditions: setConditions(before?.conditions ?? [], conditionsOf(deployment, state), now),
    // What is installed stays what it was while a newer content fails or waits.
    appliedDeploymentID: installed ? state.deploymentId : (before?.appliedDeploymentID ?? ""),
    ready: installed && state.ready,
    nonModified: true,
    nonReadyStatus: state.notReady.filter((resource) => !resource.missing).map(describeResource),
    modifiedStatus: state.notReady.filter((resource) => resource.missing).map(describeResource),
    resourceCounts: { ...state.counts, waitApplied: 0, modified: 0, orphaned: 0 },
    ...(state.release !== undefined && {
      release: `${state.release.namespace}/${state.release.name}:${state.release.revision}`,
      version: state.release.chartVersion,
    }),
    ...(state.chartDigest !== undefined && { chartDigest: state.chartDigest }),
  };
  const shown = { ...next, display: displayOf({ ...deployment, status: next }) };
  // Where a report stands is written with what it says, not for its own sake.
  return { ...shown, agent: { epoch: report.epoch, sequence: report.sequence } };
}

export function isDeploymentNews(
  before: BundleDeploymentStatus | undefined,
  after: BundleDeploymentStatus,
): boolean {
  const failed = findCondition(after.conditions, "Deployed");
  if (failed?.status === "False" && isNews(findCondition(before?.conditions, "Deployed"), failed))
    return true;
  return isNews(
    findCondition(before?.conditions, "Ready"),
    findCondition(after.conditions, "Ready"),
  );
}

function conditionsOf(deployment: BundleDeployment, state: DeploymentState) {
  const observedGeneration = deployment.metadata.generation ?? 0;
  const condition = (
    type: string,
    status: "True" | "False" | "Unknown",
    reason: string,
    message: string,
  ) => ({
    type,
    status,
    reason,
    message,
    observedGeneration,
  });
  const { message } = state;
  switch (state.phase) {
    case "pending":
      return [condition("Ready", "False", "WaitApplied", message)];
    case "failed":
      return [
        condition(
          "Deployed",
          "False",
          fetchFailures.has(state.code ?? "") ? chartNotFetched : "Error",
          message,
        ),
        condition("Ready", "False", "ErrApplied", message),
      ];
    case "withdrawing":
      return [
        condition("Ready", "False", message === "" ? "Progressing" : "ErrUninstall", message),
      ];
    case "deployed":
      return [
        condition("Deployed", "True", "", ""),
        condition("Installed", "True", "", ""),
        state.ready
          ? condition("Ready", "True", "", message)
          : condition("Ready", "False", "NotReady", notReadyMessage(state.notReady) || message),
      ];
  }
}

function displayOf(deployment: BundleDeployment): BundleDeploymentStatus["display"] {
  const deployed = findCondition(deployment.status?.conditions, "Deployed");
  return {
    deployed:
      deployed === undefined
        ? "Unknown"
        : deployed.status === "False"
          ? `Error: ${deployed.message ?? ""}`
          : deployed.status,
    state: stateOf(deployment),
  };
}

function notReadyMessage(resources: readonly ResourceState[]): string {
  const [first] = resources;
  return first === undefined
    ? ""
    : `${first.kind.toLowerCase()} ${nameOf(first)}: ${first.message}`;
}

function describeResource(resource: ResourceState) {
  return {
    kind: resource.kind,
    apiVersion: resource.apiVersion,
    ...(resource.namespace !== undefined && { namespace: resource.namespace }),
    name: resource.name,
    ...(resource.missing
      ? { missing: true }
      : { summary: { state: "in-progress", message: [resource.message] } }),
  };
}

function nameOf(resource: ResourceState): string {
  return resource.namespace === undefined
    ? resource.name
    : `${resource.namespace}/${resource.name}`;
}
