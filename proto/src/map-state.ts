/** Maps DeploymentState between the wire and our own type. */

import {
  type DeploymentPhase,
  type DeploymentState,
  type ReleaseCondition,
  type RequestResult,
  type ResourceCounts,
  type ResourceState,
  type ResourceStateName,
  type RevisionInfo,
  reportedConditionTypes,
  resourceStateNames,
  type SourceDigest,
} from "./deployment-state.ts";
import type {
  DeploymentState__Output,
  _flotilla_v1_DeploymentState_Phase__Output as WirePhase,
  DeploymentState as WireState,
} from "./generated/flotilla/v1/DeploymentState.ts";
import type { ReleaseCondition__Output } from "./generated/flotilla/v1/ReleaseCondition.ts";
import type {
  RequestResult__Output,
  RequestResult as WireRequestResult,
} from "./generated/flotilla/v1/RequestResult.ts";
import type { ResourceState__Output } from "./generated/flotilla/v1/ResourceState.ts";
import type { Revision__Output } from "./generated/flotilla/v1/Revision.ts";
import type { SourceDigest__Output } from "./generated/flotilla/v1/SourceDigest.ts";
import { driftFromWire, driftToWire } from "./map-drift.ts";
import {
  atMost,
  cleanText,
  key,
  long,
  present,
  shown,
  text,
  WireError,
  wireLimits,
} from "./validation.ts";

const phaseToWire = {
  pending: "PHASE_PENDING",
  deployed: "PHASE_DEPLOYED",
  failed: "PHASE_FAILED",
  withdrawing: "PHASE_WITHDRAWING",
} as const satisfies Record<DeploymentPhase, WirePhase>;

const phaseFromWire: Partial<Record<WirePhase, DeploymentPhase>> = {
  PHASE_PENDING: "pending",
  PHASE_DEPLOYED: "deployed",
  PHASE_FAILED: "failed",
  PHASE_WITHDRAWING: "withdrawing",
};

const noCounts: ResourceCounts = { desiredReady: 0, ready: 0, notReady: 0, missing: 0, unknown: 0 };

export function stateToWire(sequence: number, state: DeploymentState): WireState {
  return {
    name: state.name,
    uid: state.uid,
    sequence,
    deploymentId: state.deploymentId,
    phase: phaseToWire[state.phase],
    message: cut(state.message),
    retryAt: state.retryAt ?? "",
    ...(state.release !== undefined && {
      release: {
        ...state.release,
        // Written by the author of the chart, so it may hold any text.
        chartVersion: shown(state.release.chartVersion),
        appVersion: shown(state.release.appVersion),
      },
    }),
    ready: state.ready,
    notReady: state.notReady.slice(0, wireLimits.notReady).map((resource) => ({
      ...resource,
      message: cut(resource.message),
      missing: resource.state === "missing",
    })),
    resources: state.resources.slice(0, wireLimits.resources),
    incomplete: state.incomplete || state.resources.length > wireLimits.resources,
    counts: state.counts,
    chartDigest: state.chartDigest ?? "",
    code: state.code ?? "",
    conditions: (state.conditions ?? []).map((condition) => ({
      ...condition,
      message: cut(condition.message),
    })),
    history: (state.history ?? []).slice(0, wireLimits.history).map((revision) => ({
      ...revision,
      chartName: shown(revision.chartName),
      chartVersion: shown(revision.chartVersion),
      appVersion: shown(revision.appVersion),
      tests: revision.tests.slice(0, wireLimits.tests),
      remarks: (revision.remarks ?? []).slice(0, wireLimits.remarks).map(shown),
    })),
    ...(state.drift !== undefined && { drift: driftToWire(state.drift) }),
    failures: state.failures ?? 0,
    ...(state.source !== undefined && { source: state.source }),
    ...(state.request !== undefined && { request: requestToWire(state.request) }),
    installFailures: state.failuresBy?.install ?? 0,
    upgradeFailures: state.failuresBy?.upgrade ?? 0,
    notInstalled: state.notInstalled ?? false,
    cause: cut(state.cause ?? ""),
    refusedAt: state.refusedAt ?? "",
    waitsFor: (state.waitsFor ?? []).slice(0, wireLimits.waitsFor).map(shown),
  };
}

export function stateFromWire(wire: DeploymentState__Output): DeploymentState {
  const phase = phaseFromWire[wire.phase];
  if (phase === undefined)
    throw new WireError(
      `state.phase is ${shown(String(wire.phase))}, which is none of ${Object.values(phaseToWire).join(", ")}`,
    );
  atMost(wire.notReady.length, wireLimits.notReady, "state.not_ready");
  atMost(wire.resources.length, wireLimits.resources, "state.resources");
  atMost(wire.conditions.length, wireLimits.conditions, "state.conditions");
  atMost(wire.history.length, wireLimits.history, "state.history");
  atMost(wire.waitsFor.length, wireLimits.waitsFor, "state.waits_for");
  const retryAt = text(wire.retryAt, "state.retry_at");
  const chartDigest = text(wire.chartDigest, "state.chart_digest");
  const code = text(wire.code, "state.code");
  const refusedAt = text(wire.refusedAt, "state.refused_at");
  return {
    ...key(wire, "state"),
    deploymentId: text(wire.deploymentId, "state.deployment_id"),
    phase,
    message: long(wire.message, "state.message"),
    ...(retryAt !== "" && { retryAt }),
    ...(wire.release !== null && {
      release: {
        namespace: shown(wire.release.namespace),
        name: shown(wire.release.name),
        revision: wire.release.revision,
        chartVersion: shown(wire.release.chartVersion),
        appVersion: shown(wire.release.appVersion),
      },
    }),
    ready: wire.ready,
    notReady: wire.notReady.map((resource) => ({
      ...resourceFromWire(resource, resource.missing ? "missing" : "in-progress"),
      message: long(resource.message, "resource.message"),
    })),
    resources: wire.resources.map((resource) => resourceFromWire(resource, "unknown")),
    incomplete: wire.incomplete,
    counts: wire.counts ?? noCounts,
    ...(chartDigest !== "" && { chartDigest }),
    ...(code !== "" && { code }),
    ...(wire.conditions.length > 0 && { conditions: wire.conditions.flatMap(conditionFromWire) }),
    ...(wire.history.length > 0 && { history: wire.history.map(revisionFromWire) }),
    ...(wire.drift !== null && { drift: driftFromWire(wire.drift) }),
    ...(wire.failures > 0 && { failures: wire.failures }),
    ...(wire.source !== null && { source: sourceFromWire(wire.source) }),
    ...(wire.request !== null && { request: requestFromWire(wire.request) }),
    ...(wire.installFailures + wire.upgradeFailures > 0 && {
      failuresBy: { install: wire.installFailures, upgrade: wire.upgradeFailures },
    }),
    ...(wire.notInstalled && { notInstalled: true as const }),
    ...(wire.cause !== "" && { cause: long(wire.cause, "state.cause") }),
    ...(refusedAt !== "" && { refusedAt }),
    ...(wire.waitsFor.length > 0 && { waitsFor: wire.waitsFor.map(shown) }),
  };
}

function requestToWire(request: RequestResult): WireRequestResult {
  const { token, result, objects = 0, revision = 0, code = "", message = "" } = request;
  return { token, result, objects, revision, code, message: cut(message) };
}

function requestFromWire(wire: RequestResult__Output): RequestResult {
  const { objects, revision } = wire;
  const code = text(wire.code, "request.code");
  return {
    token: present(wire.token, "request.token"),
    result: shown(wire.result),
    ...(objects > 0 && { objects }),
    ...(revision > 0 && { revision }),
    ...(code !== "" && { code }),
    ...(wire.message !== "" && { message: long(wire.message, "request.message") }),
  };
}

export function sourceFromWire({ pin, digest }: SourceDigest__Output): SourceDigest {
  return { pin: text(pin, "source.pin"), digest: text(digest, "source.digest") };
}

/** Types and statuses that this build does not know are left out. */
function conditionFromWire(wire: ReleaseCondition__Output): readonly ReleaseCondition[] {
  const type = reportedConditionTypes.find((each) => each === wire.type);
  const status = conditionStatuses.find((each) => each === wire.status);
  if (type === undefined || status === undefined) return [];
  const message = long(wire.message, "condition.message");
  return [{ type, status, reason: shown(wire.reason), message }];
}

const conditionStatuses = ["True", "False", "Unknown"] as const;

function revisionFromWire(wire: Revision__Output): RevisionInfo {
  atMost(wire.tests.length, wireLimits.tests, "revision.tests");
  return {
    revision: wire.revision,
    status: shown(wire.status),
    ...(wire.action !== "" && { action: shown(wire.action) }),
    chartName: shown(wire.chartName),
    chartVersion: shown(wire.chartVersion),
    appVersion: shown(wire.appVersion),
    ...(wire.deployedAt !== "" && { deployedAt: text(wire.deployedAt, "revision.deployed_at") }),
    tests: wire.tests.map(({ name, phase }) => ({ name: shown(name), phase: shown(phase) })),
    ...(wire.digest !== "" && { digest: text(wire.digest, "revision.digest") }),
    ...(wire.remarks.length > 0 && {
      remarks: wire.remarks.slice(0, wireLimits.remarks).map(shown),
    }),
  };
}

/** `otherwise`: the state of an object that has none, or one that this build does not support. */
function resourceFromWire(
  wire: ResourceState__Output,
  otherwise: ResourceStateName,
): ResourceState {
  const namespace = shown(wire.namespace);
  return {
    apiVersion: shown(wire.apiVersion),
    kind: shown(wire.kind),
    ...(namespace !== "" && { namespace }),
    name: shown(wire.name),
    state: resourceStateNames.find((state) => state === wire.state) ?? otherwise,
  };
}

/** Cuts a message to the length that the other side accepts. */
function cut(message: string): string {
  return cleanText(message, wireLimits.messageChars);
}
