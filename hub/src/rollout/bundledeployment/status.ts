/** The status of a BundleDeployment, from what its agent reported last. Pure. */

import {
  type DeploymentState,
  type RequestResult,
  type RevisionInfo,
  reportedConditionTypes,
  type UnreadyResource,
} from "@flotilla/proto";
import { agentErrorCodes } from "@flotilla/proto/codes";
import type {
  BundleDeployment,
  BundleDeploymentStatus,
  Condition,
  ReleaseRevision,
  RequestStatus,
} from "@flotilla/shared/api";
import { findCondition, setConditions } from "@flotilla/shared/conditions";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { chartErrors, sha256Schema } from "@flotilla/shared/source";
import { cutText } from "@flotilla/shared/text";
import { isUrgentChange } from "../../base/index.ts";
import {
  artifactFailed,
  chartNotFetched,
  formatReleaseId,
  modifiedText,
  objectText,
  stateOf,
  valuesError,
} from "../../rules/index.ts";
import { deployedObjects, thatFit, withoutObjects } from "./deployed-objects.ts";
import { driftHistory } from "./drift-history.ts";

/** Reasons of failures by their code; Flux has the same for charts that cannot be made, and for values. */
const failureReasons: ReadonlyMap<string, string> = new Map([
  [chartErrors.CHART_DOWNLOAD.code, chartNotFetched],
  [chartErrors.CHART_DIGEST_MISMATCH.code, chartNotFetched],
  [chartErrors.CHART_NOT_IN_SOURCE.code, artifactFailed],
  [chartErrors.CHART_VALUES_FILE.code, artifactFailed],
  [chartErrors.CHART_DEPENDENCY.code, artifactFailed],
  [chartErrors.CHART_BUILD.code, artifactFailed],
  [agentErrorCodes.chartUnreadable, artifactFailed],
  [agentErrorCodes.valuesSourceMissing, valuesError],
  [agentErrorCodes.valuesSourceInvalid, valuesError],
  [agentErrorCodes.valuesTemplateFailed, valuesError],
]);

function failureReason(code: string): string {
  return failureReasons.get(code) ?? "Error";
}

/** A report, and its position among the reports of its cluster. */
export interface SequencedReport {
  readonly epoch: number;
  readonly sequence: number;
  readonly state: DeploymentState;
}

/** Whether a report is older than the one that the status was made from. */
export function isOutdated(
  report: SequencedReport,
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
  report: SequencedReport,
  now: string,
): BundleDeploymentStatus {
  const { state } = report;
  const before = lastingStatus(deployment.status ?? {}, state);
  const installed = state.phase === "deployed";
  const isAttempt = state.phase === "pending" || state.phase === "failed";
  const next: BundleDeploymentStatus = {
    ...(saysNothingOfObjects(state)
      ? before
      : { ...withoutObjects(before), ...deployedObjects(state) }),
    conditions: setConditions(
      before.conditions ?? [],
      [...conditionsOf(deployment, state), ...releaseConditions(deployment, state)],
      now,
    )
      .filter(isCurrent(state))
      .map(withoutSameTime),
    // What is installed stays what it was while a newer content fails or waits.
    appliedDeploymentID: installed ? state.deploymentId : (before.appliedDeploymentID ?? ""),
    ...(isAttempt && { attemptedDeploymentID: state.deploymentId }),
    ...(state.cause !== undefined && { cause: cutText(state.cause, causeChars) }),
    ready: installed && state.ready,
    nonModified: !isModified(state),
    ...driftHistory(before, state),
    ...(state.release !== undefined && {
      release: formatReleaseId(state.release),
      version: state.release.chartVersion,
    }),
    ...(state.chartDigest !== undefined && { chartDigest: state.chartDigest }),
    ...(waitsForDependencies(before.conditions) &&
      !waitsForDependencies(state.conditions) && { dependenciesMetAt: now }),
    ...sourceOf(before, state, now),
    ...(state.history !== undefined && { history: toHistory(state.history, state) }),
    ...(state.failures !== undefined && { failures: state.failures }),
    ...(state.request !== undefined && { lastRequest: toRequest(state.request) }),
    ...(state.refusedAt !== undefined && { refusedAt: state.refusedAt }),
    ...namedDependencies(state),
    ...(state.failuresBy !== undefined && {
      installFailures: state.failuresBy.install,
      upgradeFailures: state.failuresBy.upgrade,
    }),
  };
  const shown = { ...next, display: displayOf({ ...deployment, status: next }) };
  // The position of a report is written with the report, not alone.
  return { ...shown, agent: { epoch: report.epoch, sequence: report.sequence } };
}

function waitsForDependencies(
  conditions: readonly { readonly type: string; readonly reason?: string | undefined }[] = [],
): boolean {
  return conditions.some(
    ({ type, reason }) => type === fluxType.reconciling && reason === fluxReason.dependencyNotReady,
  );
}

/** Names of Kubernetes objects alone: they stand in sentences about the rollout of the whole fleet, and the agent of one cluster says them. */
function namedDependencies({
  waitsFor = [],
}: DeploymentState): Pick<BundleDeploymentStatus, "waitsFor"> {
  const names = waitsFor.filter((name) => objectName.test(name));
  return names.length === 0 ? {} : { waitsFor: names };
}

const objectName = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** The limit of the cause of a failure. */
const causeChars = 512;

/** What a report does not repeat, and what still holds of it. */
function lastingStatus(
  before: BundleDeploymentStatus,
  { notInstalled }: DeploymentState,
): BundleDeploymentStatus {
  const {
    attemptedDeploymentID: _attempted,
    cause: _cause,
    failures: _failures,
    installFailures: _installs,
    upgradeFailures: _upgrades,
    refusedAt: _refused,
    waitsFor: _waits,
    ...lasting
  } = before;
  if (notInstalled !== true) return lasting;
  const {
    appliedDeploymentID: _applied,
    release: _release,
    version: _version,
    chartDigest: _digest,
    history: _history,
    ...others
  } = withoutObjects(lasting);
  const conditions = (others.conditions ?? []).filter(({ type }) => !installedTypes.has(type));
  return { ...others, conditions };
}

/** Conditions of what is installed. */
const installedTypes: ReadonlySet<string> = new Set(["Installed", "Monitored"]);

/** Whether a result is to be written at once; progress may wait for it. */
export function isUrgentDeployment(
  before: BundleDeploymentStatus | undefined,
  after: BundleDeploymentStatus,
): boolean {
  // Another content is ready: what came between may not have been written, so the condition alone says nothing new.
  if (after.ready === true && before?.appliedDeploymentID !== after.appliedDeploymentID)
    return true;
  const failed = findCondition(after.conditions, "Deployed");
  if (
    failed?.status === "False" &&
    isUrgentChange(findCondition(before?.conditions, "Deployed"), failed)
  )
    return true;
  return isUrgentChange(
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
        condition("Deployed", "False", failureReason(state.code ?? ""), message),
        condition("Ready", "False", "ErrApplied", message),
      ];
    case "withdrawing":
      return [
        condition(
          "Ready",
          "False",
          state.code === undefined ? "Progressing" : "ErrUninstall",
          message,
        ),
      ];
    case "deployed":
      return [
        condition("Deployed", "True", "", ""),
        condition("Installed", "True", "", ""),
        ...monitored(state).map(({ status, reason, message }) =>
          condition("Monitored", status, reason, message),
        ),
        isReady(state)
          ? condition("Ready", "True", "", message)
          : state.ready
            ? condition("Ready", "False", "Modified", modifiedMessage(state))
            : condition("Ready", "False", "NotReady", firstText(state.notReady) || message),
      ];
  }
}

function isReady(state: DeploymentState): boolean {
  return state.ready && !isModified(state);
}

/** As in Fleet, an object with drift is not ready; with Flux's `warn` drift is a condition of its own. */
function isModified({ phase, drift }: DeploymentState): boolean {
  return phase === "deployed" && drift !== undefined && drift.count > 0 && drift.isWarning !== true;
}

function modifiedMessage(state: DeploymentState): string {
  const [first] = deployedObjects(state).modifiedStatus ?? [];
  return first === undefined ? "objects of the release have drift" : modifiedText(first);
}

/** The conditions of the release itself, with Flux's types. */
function releaseConditions(deployment: BundleDeployment, { conditions = [] }: DeploymentState) {
  const observedGeneration = deployment.metadata.generation ?? 0;
  return conditions.map((condition) => ({ ...condition, observedGeneration }));
}

/** Conditions of a release that do not apply any more are not in the report. */
function isCurrent({
  conditions,
}: DeploymentState): (condition: { readonly type: string }) => boolean {
  if (conditions === undefined) return () => true;
  const current = new Set<string>(conditions.map(({ type }) => type));
  const types: readonly string[] = reportedConditionTypes;
  return ({ type }) => current.has(type) || !types.includes(type);
}

/** There is one BundleDeployment for each HelmOp and cluster, so they say nothing twice. */
function withoutSameTime({ lastUpdateTime, ...condition }: Condition): Condition {
  const isSame = lastUpdateTime === condition.lastTransitionTime;
  return { ...condition, ...(!isSame && lastUpdateTime !== undefined && { lastUpdateTime }) };
}

/** Characters of JSON: two revisions of a usual chart while nothing is wrong, and five otherwise. */
const historyChars = { inSync: 360, failing: 1_000 };

/** Enough to tell revisions apart. */
const shownDigest = 12;

/** The newest one in any case. */
function toHistory(
  revisions: readonly RevisionInfo[],
  { phase, ready }: DeploymentState,
): readonly ReleaseRevision[] {
  const chars = phase === "deployed" && ready ? historyChars.inSync : historyChars.failing;
  const [newest, ...older] = revisions.map(toRevision);
  if (newest === undefined) return [];
  return [newest, ...thatFit(older, chars - JSON.stringify(newest).length)];
}

function toRevision(revision: RevisionInfo): ReleaseRevision {
  const { status, action, chartName, chartVersion, appVersion, deployedAt, tests, digest } =
    revision;
  const { remarks = [] } = revision;
  return {
    version: revision.revision,
    status,
    chartName,
    chartVersion,
    ...(action !== undefined && { action }),
    ...(appVersion !== "" && appVersion !== chartVersion && { appVersion }),
    ...(deployedAt !== undefined && { lastDeployed: deployedAt }),
    ...(digest !== undefined && { digest: digest.slice(0, shownDigest) }),
    ...(tests.length > 0 && {
      testHooks: Object.fromEntries(tests.map(({ name, phase }) => [name, { phase }])),
    }),
    ...(remarks.length > 0 && { remarks }),
  };
}

/** With the time of the first report of the same bytes. It is sent to other agents, so it is a digest or nothing. */
function sourceOf(
  { source: before }: BundleDeploymentStatus,
  { source }: DeploymentState,
  now: string,
): Pick<BundleDeploymentStatus, "source"> {
  if (source === undefined) return {};
  const { pin, digest } = source;
  if (![pin, digest].every((text) => sha256Schema.safeParse(text).success)) return {};
  const isSame = before?.pin === pin && before.digest === digest;
  return { source: { pin, digest, since: isSame ? before.since : now } };
}

function toRequest({ message, ...request }: RequestResult): RequestStatus {
  return { ...request, ...(message !== undefined && { message: cutText(message, requestChars) }) };
}

/** The limit of the message of a request; a failure is in the conditions as a whole. */
const requestChars = 256;

/** After its start an agent reports no objects before it has applied the desired content. */
function saysNothingOfObjects({ phase, counts }: DeploymentState): boolean {
  return (phase === "pending" || phase === "failed") && counts.desiredReady === 0;
}

/** Whether all objects can be read; no condition before they were. */
function monitored({ ready, counts, notReady }: DeploymentState) {
  const hidden = notReady.filter(({ state }) => state === "unknown");
  if (hidden.length > 0 || counts.unknown > 0)
    return [{ status: "False", reason: "Error", message: firstText(hidden) } as const];
  const wereSeen = ready || counts.desiredReady > 0;
  return wereSeen ? [{ status: "True", reason: "", message: "" } as const] : [];
}

function displayOf(deployment: BundleDeployment): BundleDeploymentStatus["display"] {
  const shown = (type: string): string => {
    const condition = findCondition(deployment.status?.conditions, type);
    if (condition === undefined) return "Unknown";
    return condition.status === "False" ? `Error: ${condition.message ?? ""}` : condition.status;
  };
  return {
    deployed: shown("Deployed"),
    monitored: shown("Monitored"),
    state: stateOf(deployment),
  };
}

function firstText([first]: readonly UnreadyResource[]): string {
  if (first === undefined) return "";
  return first.state === "missing"
    ? `${objectText(first)} is missing`
    : `${objectText(first)}: ${first.message}`;
}
