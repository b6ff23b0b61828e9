/** The progress of every release; a deployment's state is reported to the hub whenever one of its releases changes. */

import { isDeepStrictEqual } from "node:util";
import type { DeploymentState } from "@flotilla/proto";
import { type Clock, formatTime, type Timer } from "@flotilla/shared/time";
import type { ReportedState } from "../../inputs/index.ts";
import {
  composeStates,
  type DeploymentResult,
  type DriftTracker,
  describeDrift,
  type FetchedSources,
  type Outbox,
  type Readiness,
  type ReadinessTracker,
  type ReportedRelease,
  toBundleState,
  toDeploymentState,
  toReportedDrift,
} from "../../observe/index.ts";
import type {
  Assignment,
  Assignments,
  ReleaseAssignment,
  ReleaseAssignments,
} from "../../state/index.ts";
import type { InSync } from "../action/deploy-pass.ts";
import type { Progress } from "./progress.ts";
import { hasNoRelease, type ReleaseReportDeps, releaseReport } from "./release-report.ts";
import { resultNow, runningText, untilDueMs } from "./running.ts";
import { sharedObjectsWarning } from "./shared-objects-warning.ts";

export interface InstalledDetails {
  readonly warning?: string | undefined;
  /** The agent waits until then for the release to become ready, ms since 1970. */
  readonly awaitsUntilMs?: number;
}

export interface StatusesDeps extends ReleaseReportDeps {
  readonly assignments: Pick<Assignments, "get" | "list">;
  readonly assigned: Pick<ReleaseAssignments, "get" | "of">;
  readonly readiness: Pick<
    ReadinessTracker,
    "track" | "forget" | "readinessOf" | "sharedObjectsOf"
  >;
  readonly drift: Pick<DriftTracker, "track" | "forget" | "driftOf">;
  readonly sources: Pick<FetchedSources, "of" | "forget">;
  readonly outbox: Pick<Outbox, "report">;
  readonly clock: Clock;
  /** Called whenever the state of a deployment was computed. */
  readonly onState: (name: string, state: ReportedState) => void;
}

/** By the ids of the releases, unless said otherwise. */
export class Statuses {
  readonly #deps: StatusesDeps;
  readonly #progress = new Map<string, Progress>();
  /** When results with a retry are due. */
  readonly #due = new Map<string, Timer>();
  /** By deployment. */
  readonly #reported = new Map<string, DeploymentState>();
  #isStopped = false;

  constructor(deps: StatusesDeps) {
    this.#deps = deps;
  }

  get(id: string): Progress | undefined {
    return this.#progress.get(id);
  }

  /** Creates it, as pending, if there is none. */
  ensure(id: string): Progress {
    const known = this.#progress.get(id);
    if (known !== undefined) return known;
    const fresh: Progress = { result: { kind: "pending", message: "" } };
    this.#progress.set(id, fresh);
    return fresh;
  }

  list(): Iterable<readonly [string, Progress]> {
    return this.#progress;
  }

  /** Sets the result of a release that is in sync, and tracks the readiness of its objects. */
  setInstalled(
    { owner, deploymentId }: ReleaseAssignment,
    found: InSync,
    { warning, awaitsUntilMs }: InstalledDetails,
  ): void {
    const { release, chartDigest } = found;
    const own = this.ensure(owner.id);
    delete own.failure;
    own.result = {
      kind: "deployed",
      deploymentId,
      release,
      ...(chartDigest !== undefined && { chartDigest }),
      ...(warning !== undefined && { message: warning }),
      ...(awaitsUntilMs !== undefined && { awaitsUntil: formatTime(awaitsUntilMs) }),
    };
    this.#track(owner.id, found);
  }

  /** Tracks the objects of a release. Undefined until they were read. */
  readinessOf({ owner }: ReleaseAssignment, found: InSync): Readiness | undefined {
    this.#track(owner.id, found);
    return this.#deps.readiness.readinessOf(owner.id);
  }

  /** Reports the deployment of a release if its state has changed, and again when a retry of the release is due and has not begun. */
  report(id: string): void {
    const release = this.#deps.assigned.get(id);
    const own = this.#progress.get(id);
    if (release === undefined || own === undefined) return;
    this.#reportWhenDue(id, own);
    this.#reportDeployment(release.owner.name);
  }

  /** Removes a release that was withdrawn. Its deployment, if that stays, is reported without it. */
  remove({ owner: { id, name } }: ReleaseAssignment): void {
    const { assigned, readiness, drift, sources } = this.#deps;
    this.#due.get(id)?.cancel();
    this.#due.delete(id);
    readiness.forget(id);
    drift.forget(id);
    sources.forget(id);
    this.#progress.delete(id);
    const others = assigned.of(name).filter(({ owner }) => this.#progress.has(owner.id));
    if (others.length > 0) this.#reportDeployment(name);
    else this.#reported.delete(name);
  }

  /** What others that depend on a deployment see. */
  reportedStateOf(deployment: Assignment): ReportedState {
    const report = this.#stateOf(deployment);
    if (report === undefined) return { state: "WaitApplied" };
    return { state: toBundleState(report, deployment.deploymentId), report };
  }

  /** The states of all deployments that have one: the hub keeps what it knows until the first reconcile of a process has a result. */
  states(): readonly DeploymentState[] {
    return this.#deps.assignments.list().flatMap((deployment) => {
      if (!this.#reported.has(deployment.owner.name)) return [];
      return this.#stateOf(deployment) ?? [];
    });
  }

  /** Reports no retry any more that becomes due. */
  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#due.values()) timer.cancel();
    this.#due.clear();
  }

  #reportDeployment(name: string): void {
    const { assignments, assigned, readiness, outbox, onState } = this.#deps;
    const deployment = assignments.get(name);
    const state = deployment && this.#stateOf(deployment);
    if (deployment === undefined || state === undefined) return;
    onState(name, { state: toBundleState(state, deployment.deploymentId), report: state });
    const isUnread = assigned.of(name).some(({ owner: { id } }) => {
      const isInstalled = this.#progress.get(id)?.result.kind === "deployed";
      return isInstalled && readiness.readinessOf(id) === undefined;
    });
    const before = this.#reported.get(name);
    // The hub knows it from an earlier process, perhaps as ready: nothing is said of it before its objects were read.
    if ((before === undefined && isUnread) || isDeepStrictEqual(state, before)) return;
    this.#reported.set(name, state);
    outbox.report(state);
  }

  /** Undefined while nothing is known, or while the first reconcile of a release has no result that an earlier process has installed. */
  #stateOf(deployment: Assignment): DeploymentState | undefined {
    const { assigned, inventory } = this.#deps;
    const states: ReportedRelease[] = [];
    const releases = assigned.of(deployment.owner.name);
    if (!releases.some(({ owner }) => this.#progress.has(owner.id))) return undefined;
    for (const release of releases) {
      const own = this.#progress.get(release.owner.id);
      if (own === undefined && inventory.knows(release.owner)) return undefined;
      states.push({ release, state: this.#releaseStateOf(release, own ?? notBegun) });
    }
    return composeStates(deployment, states);
  }

  #releaseStateOf(release: ReleaseAssignment, own: Progress): DeploymentState {
    const { readiness, drift, sources, clock } = this.#deps;
    const result = resultNow(own.result, own.running, clock.now());
    const { id } = release.owner;
    const source = sources.of(release.owner);
    const found = result.kind === "deployed" ? drift.driftOf(id) : undefined;
    const isGone = hasNoRelease(this.#deps, release, result);
    // Objects of a release that is not there any more are followed until the next one is.
    const objects = isGone ? undefined : readiness.readinessOf(id);
    const state = toDeploymentState(release, this.#withWarning(id, result), objects);
    return {
      ...state,
      ...causeOf(own.result, state.message),
      ...(isGone && { notInstalled: true as const }),
      ...releaseReport(this.#deps, release, {
        result,
        drift: found && describeDrift(found),
        running: own.running && runningText(own.running),
      }),
      ...(found !== undefined && toReportedDrift(found)),
      ...(source !== undefined && { source }),
    };
  }

  #reportWhenDue(id: string, own: Progress): void {
    const { clock } = this.#deps;
    this.#due.get(id)?.cancel();
    this.#due.delete(id);
    const leftMs = own.running === undefined ? untilDueMs(own.result, clock.now()) : undefined;
    if (leftMs !== undefined && !this.#isStopped)
      this.#due.set(
        id,
        clock.setTimeout(() => this.report(id), leftMs),
      );
  }

  /** With a warning about objects that another release has as well. */
  #withWarning(id: string, result: DeploymentResult): DeploymentResult {
    if (result.kind !== "deployed") return result;
    const { readiness, inventory } = this.#deps;
    const shared = sharedObjectsWarning(readiness.sharedObjectsOf(id), (other) => {
      const installed = inventory.releasesOf(other).at(-1);
      return installed && `${installed.namespace}/${installed.name}`;
    });
    const texts = [result.message, shared].filter((text) => text !== undefined);
    return texts.length === 0 ? result : { ...result, message: texts.join("; ") };
  }

  #track(id: string, found: InSync): void {
    this.#trackReadiness(id, found);
    this.#deps.drift.track(id, found.drift);
  }

  #trackReadiness(id: string, found: InSync): void {
    const { release, objects, manifestDigest, client, healthChecks, ignoredConditions } = found;
    const own = this.ensure(id);
    // The same manifest in another namespace has other objects, and another account may see others.
    const { namespace } = release;
    const rules = JSON.stringify([healthChecks, ignoredConditions]);
    const tracked = `${namespace} ${client.subject} ${manifestDigest} ${rules}`;
    if (own.tracked === tracked) return;
    const options = { namespace, client, healthChecks, ignoredConditions };
    this.#deps.readiness.track(id, objects, options);
    own.tracked = tracked;
  }
}

/** Until the first reconcile of a release begins. */
const notBegun: Progress = { result: { kind: "pending", message: "" } };

/** What failed, without what `message` says of the next attempt. */
function causeOf(result: DeploymentResult, message: string): Pick<DeploymentState, "cause"> {
  const hasFailed = result.kind === "failed" || result.kind === "withdrawing";
  return hasFailed && result.message !== message ? { cause: result.message } : {};
}
