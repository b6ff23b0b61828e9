/** The progress of every deployment, reported to the hub whenever its state changes. */

import { isDeepStrictEqual } from "node:util";
import type { DeploymentState } from "@flotilla/proto";
import { type Clock, formatTime, type Timer } from "@flotilla/shared/time";
import type { InSync } from "../action/index.ts";
import type { Assignment, Assignments } from "../assignment/index.ts";
import type { ReportedState } from "../dependencies/index.ts";
import { type DriftTracker, describeDrift } from "../drift/index.ts";
import type { Readiness, ReadinessTracker } from "../readiness/index.ts";
import {
  type DeploymentResult,
  type FetchedSources,
  type Outbox,
  toBundleState,
  toDeploymentState,
  toReportedDrift,
} from "../report/index.ts";
import type { Progress } from "./progress.ts";
import { hasNoRelease, type ReleaseReportDeps, releaseReport } from "./release-report.ts";
import { resultNow, runningText, untilDueMs } from "./running.ts";
import { sharedObjectsWarning } from "./shared-objects-warning.ts";

export interface Statuses {
  get(name: string): Progress | undefined;
  /** Creates it, as pending, if there is none. */
  ensure(name: string): Progress;
  list(): Iterable<readonly [string, Progress]>;
  /** Sets the result of a release that is in sync, and tracks the readiness of its objects. */
  setInstalled(assignment: Assignment, found: InSync, more: InstalledDetails): void;
  /** Tracks the objects of a release. Undefined until they were read. */
  readinessOf(assignment: Assignment, found: InSync): Readiness | undefined;
  /** Reports a deployment if its state has changed, and again when a retry of it is due and has not begun. */
  report(name: string): void;
  /** Removes an uninstalled deployment. */
  remove(name: string): void;
  /** What others that depend on it see. */
  reportedStateOf(assignment: Assignment): ReportedState;
  /** Of all deployments that have one: the hub keeps what it knows until the first reconcile of a process has a result. */
  states(): readonly DeploymentState[];
  /** Reports no retry any more that becomes due. */
  stop(): void;
}

export interface InstalledDetails {
  readonly warning?: string | undefined;
  /** The agent waits until then for the release to become ready, ms since 1970. */
  readonly awaitsUntilMs?: number;
}

export interface StatusesDeps extends ReleaseReportDeps {
  readonly assignments: Pick<Assignments, "get" | "list">;
  readonly readiness: Pick<
    ReadinessTracker,
    "track" | "forget" | "readinessOf" | "sharedObjectsOf"
  >;
  readonly drift: Pick<DriftTracker, "track" | "forget" | "driftOf">;
  readonly sources: Pick<FetchedSources, "of" | "forget">;
  readonly outbox: Pick<Outbox, "report">;
  readonly clock: Clock;
  /** Called whenever a state was computed. */
  readonly onState: (name: string, state: ReportedState) => void;
}

export function createStatuses(deps: StatusesDeps): Statuses {
  const { assignments, readiness, drift, outbox, clock, onState } = deps;
  const progress = new Map<string, Progress>();
  /** Of results with a retry, by deployment. */
  const due = new Map<string, Timer>();
  let isStopped = false;

  function ensure(name: string): Progress {
    const known = progress.get(name);
    if (known !== undefined) return known;
    const fresh: Progress = { result: { kind: "pending", message: "" } };
    progress.set(name, fresh);
    return fresh;
  }

  function stateOf(assignment: Assignment, own: Progress): DeploymentState {
    const result = resultNow(own.result, own.running, clock.now());
    const { name } = assignment.owner;
    const source = deps.sources.of(assignment.owner);
    const found = result.kind === "deployed" ? drift.driftOf(name) : undefined;
    const isGone = hasNoRelease(deps, assignment, result);
    // Objects of a release that is not there any more are followed until the next one is.
    const objects = isGone ? undefined : readiness.readinessOf(name);
    const state = toDeploymentState(assignment, withWarning(name, result), objects);
    return {
      ...state,
      ...causeOf(own.result, state.message),
      ...(isGone && { notInstalled: true as const }),
      ...releaseReport(deps, assignment, {
        result,
        drift: found && describeDrift(found),
        running: own.running && runningText(own.running),
      }),
      ...(found !== undefined && toReportedDrift(found)),
      ...(source !== undefined && { source }),
    };
  }

  function reportWhenDue(name: string, own: Progress): void {
    due.get(name)?.cancel();
    due.delete(name);
    const leftMs = own.running === undefined ? untilDueMs(own.result, clock.now()) : undefined;
    if (leftMs !== undefined && !isStopped)
      due.set(
        name,
        clock.setTimeout(() => report(name), leftMs),
      );
  }

  /** With a warning about objects that another release has as well. */
  function withWarning(name: string, result: DeploymentResult): DeploymentResult {
    if (result.kind !== "deployed") return result;
    const shared = sharedObjectsWarning(readiness.sharedObjectsOf(name), releaseNameOf);
    const texts = [result.message, shared].filter((text) => text !== undefined);
    return texts.length === 0 ? result : { ...result, message: texts.join("; ") };
  }

  function releaseNameOf(name: string): string | undefined {
    const installed = deps.inventory.releasesOf(name).at(-1);
    return installed && `${installed.namespace}/${installed.name}`;
  }

  function report(name: string): void {
    const assignment = assignments.get(name);
    const own = progress.get(name);
    if (assignment === undefined || own === undefined) return;
    reportWhenDue(name, own);
    const state = stateOf(assignment, own);
    onState(name, { state: toBundleState(state, assignment.deploymentId), report: state });
    // The hub knows it from an earlier process, perhaps as ready: nothing is said of it before its objects were read.
    const isUnread = readiness.readinessOf(name) === undefined;
    if (own.reported === undefined && own.result.kind === "deployed" && isUnread) return;
    if (isDeepStrictEqual(state, own.reported)) return;
    own.reported = state;
    outbox.report(state);
  }

  function track(name: string, found: InSync): void {
    trackReadiness(name, found);
    drift.track(name, found.drift);
  }

  function trackReadiness(name: string, found: InSync): void {
    const { release, objects, manifestDigest, client, healthChecks, ignoredConditions } = found;
    const own = ensure(name);
    // The same manifest in another namespace has other objects, and another account may see others.
    const { namespace } = release;
    const rules = JSON.stringify([healthChecks, ignoredConditions]);
    const tracked = `${namespace} ${client.subject} ${manifestDigest} ${rules}`;
    if (own.tracked === tracked) return;
    readiness.track(name, objects, { namespace, client, healthChecks, ignoredConditions });
    own.tracked = tracked;
  }

  return {
    get: (name) => progress.get(name),
    ensure,
    list: () => progress,
    setInstalled({ owner, deploymentId }, found, { warning, awaitsUntilMs }) {
      const { release, chartDigest } = found;
      const own = ensure(owner.name);
      delete own.failure;
      own.result = {
        kind: "deployed",
        deploymentId,
        release,
        ...(chartDigest !== undefined && { chartDigest }),
        ...(warning !== undefined && { message: warning }),
        ...(awaitsUntilMs !== undefined && { awaitsUntil: formatTime(awaitsUntilMs) }),
      };
      track(owner.name, found);
    },
    readinessOf({ owner }, found) {
      track(owner.name, found);
      return readiness.readinessOf(owner.name);
    },
    report,
    remove(name) {
      due.get(name)?.cancel();
      due.delete(name);
      readiness.forget(name);
      drift.forget(name);
      deps.sources.forget(name);
      progress.delete(name);
    },
    reportedStateOf(assignment) {
      const own = progress.get(assignment.owner.name);
      if (own === undefined) return { state: "WaitApplied" };
      const report = stateOf(assignment, own);
      return { state: toBundleState(report, assignment.deploymentId), report };
    },
    states: () =>
      assignments.list().flatMap((assignment) => {
        const own = progress.get(assignment.owner.name);
        return own?.reported === undefined ? [] : [stateOf(assignment, own)];
      }),
    stop() {
      isStopped = true;
      for (const timer of due.values()) timer.cancel();
      due.clear();
    },
  };
}

/** What failed, without what `message` says of the next attempt. */
function causeOf(result: DeploymentResult, message: string): Pick<DeploymentState, "cause"> {
  const hasFailed = result.kind === "failed" || result.kind === "withdrawing";
  return hasFailed && result.message !== message ? { cause: result.message } : {};
}
