/** Reconciles one release: installs, upgrades or uninstalls it, and sets its result and the time of the retry. */

import { AppError, unreachable } from "@flotilla/shared/errors";
import {
  done,
  type ReconcileContext,
  type Result,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTime } from "@flotilla/shared/time";
import { LimitError } from "../../base/index.ts";
import type { DependencyTracker } from "../../inputs/index.ts";
import type { DriftTracker, Outbox } from "../../observe/index.ts";
import {
  type Assignments,
  type Attempts,
  deletedOnHubWarning,
  type ReferencedObjects,
  type Referrers,
  type ReleaseAssignment,
  type ReleaseAssignments,
  type WithdrawnObjects,
} from "../../state/index.ts";
import type { DeployPass } from "../action/deploy-pass.ts";
import {
  type AnnotationRequestDeps,
  acceptRequest,
  answerBlocked,
  answerFailed,
  answerInstalled,
} from "./annotation-requests.ts";
import type { Deployer } from "./deployer.ts";
import { passKind } from "./pass-kind.ts";
import {
  countFailure,
  type Failure,
  hasFailedBy,
  type Progress,
  resultUntilChange,
  retryDelayMs,
  stopFailures,
  untilRepeatedMs,
} from "./progress.ts";
import { type PassProgress, passProgress } from "./running.ts";
import type { Statuses } from "./statuses.ts";

export interface ReconcilerDeps {
  readonly assignments: Pick<Assignments, "ensureStored">;
  readonly assigned: Pick<ReleaseAssignments, "get" | "remove">;
  readonly deployer: Deployer;
  readonly statuses: Statuses;
  readonly inventory: AnnotationRequestDeps["inventory"];
  readonly attempts: Pick<Attempts, "failedAttemptsOf" | "setFailedAttempts">;
  readonly requests: AnnotationRequestDeps["requests"];
  readonly drift: Pick<DriftTracker, "suspend"> & AnnotationRequestDeps["drift"];
  readonly dependencies: DependencyTracker;
  readonly referenced: Pick<ReferencedObjects, "get">;
  readonly referrers: Pick<Referrers, "keysOf">;
  readonly withdrawn: Pick<WithdrawnObjects, "removeUnreferenced">;
  readonly outbox: Pick<Outbox, "withdrawn">;
  readonly clock: Clock;
  readonly log: Log;
}

interface Pass {
  readonly assignment: ReleaseAssignment;
  readonly superseded: AbortController;
  /** The inputs have changed since it began. */
  isStale: boolean;
}

/** All methods are about one release, by its id. */
export class Reconciler {
  readonly #deps: ReconcilerDeps;
  /** In progress. */
  readonly #passes = new Map<string, Pass>();

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
  }

  async reconcile(id: string, context: ReconcileContext): Promise<Result> {
    const { assigned, statuses } = this.#deps;
    const assignment = assigned.get(id);
    if (assignment === undefined) return done();
    const own = statuses.ensure(id);
    const kind = passKind(assignment);
    if (kind === "uninstall" || kind === "leave")
      return await withdraw(this.#deps, assignment, own, context.signal);
    const pass: Pass = { assignment, superseded: new AbortController(), isStale: false };
    this.#passes.set(id, pass);
    try {
      return await this.#run(pass, own, context);
    } finally {
      this.#passes.delete(id);
    }
  }

  /** The inputs of the release have changed: no backoff of an earlier failure or of the reconcile in progress delays it. */
  inputsChanged(id: string): void {
    const own = this.#deps.statuses.get(id);
    if (own !== undefined) {
      delete own.failure;
      if (hasFailedBy(own, stopFailures)) own.startsOver = true;
    }
    const pass = this.#passes.get(id);
    if (pass !== undefined) pass.isStale = true;
  }

  /** Ends the reconcile in progress if it is for another content than the current one. */
  assignmentChanged(id: string): void {
    const { assigned, statuses } = this.#deps;
    // It may be resumed before the next pass.
    if (assigned.get(id)?.paused === true) startOver(statuses.get(id));
    const pass = this.#passes.get(id);
    if (pass !== undefined && !isCurrent(pass.assignment, assigned.get(id)))
      pass.superseded.abort();
  }

  /** Deploys, or observes what is paused. */
  async #run(
    pass: Pass,
    own: Progress,
    { signal, withoutWorker }: ReconcileContext,
  ): Promise<Result> {
    const { statuses, dependencies, attempts, clock } = this.#deps;
    const { assignment, superseded } = pass;
    const { deploymentId } = assignment;
    const { id } = assignment.owner;
    let failure = own.failure?.deploymentId === deploymentId ? own.failure : undefined;
    const running = passProgress(this.#deps, id, own, () => {
      const counted = attempts.failedAttemptsOf(id);
      const isSame = counted?.deploymentId === deploymentId;
      return Math.max(failure?.count ?? 0, isSame ? counted.count : 0);
    });
    try {
      if (await acceptRequest(this.#deps, assignment)) {
        failure = undefined;
        delete own.failure;
      }
      if (passKind(assignment) === "observe")
        return await observe(this.#deps, assignment, own, signal);
      if (own.startsOver || (failure?.isStop && failure.retryAtMs <= clock.now())) {
        await attempts.setFailedAttempts(id, undefined);
        delete own.startsOver;
      }
      return await deploy(this.#deps, assignment, own, running, {
        signal,
        began: running.began,
        superseded: superseded.signal,
        withoutWorker,
        // Another attempt after a stop is not the next one of that row.
        retryAtMs: failure?.isStop ? undefined : failure?.retryAtMs,
        readinessOf: (found) => statuses.readinessOf(assignment, found),
        unmetDependencies: (content) => dependencies.unmet(id, content),
      });
    } catch (thrown) {
      // The process ends; the agent continues after a restart.
      if (signal.aborted) throw thrown;
      // The current content is enqueued already.
      if (superseded.signal.aborted) return done();
      running.ended();
      if (resultUntilChange(thrown, deploymentId)?.kind !== "pending")
        await answerFailed(this.#deps, id, AppError.from(thrown));
      const { failed, inRow } = countFailure(failure, thrown);
      return fail(this.#deps, assignment, own, {
        thrown,
        failed,
        delayMs: delayAfter(clock, thrown, pass.isStale ? 0 : retryDelayMs(inRow, thrown)),
      });
    } finally {
      running.ended();
    }
  }
}

/** As in Flux, what is resumed is retried, as often as its retries say. */
function startOver(own: Progress | undefined): void {
  if (own === undefined) return;
  delete own.failure;
  own.startsOver = true;
}

function fail(
  { statuses, dependencies, clock, log }: ReconcilerDeps,
  { owner: { id }, deploymentId }: ReleaseAssignment,
  own: Progress,
  failure: {
    readonly thrown: unknown;
    readonly failed: Omit<Failure, "deploymentId" | "retryAtMs">;
    readonly delayMs: number;
  },
): Result {
  const { thrown, failed, delayMs } = failure;
  dependencies.setWaitsFor(id, undefined);
  const untilChange = resultUntilChange(thrown, deploymentId);
  if (untilChange !== undefined) {
    own.result = untilChange;
    statuses.report(id);
    return done();
  }
  const retryAtMs = clock.now() + delayMs;
  own.failure = { ...failed, deploymentId, retryAtMs };
  const { code, message } = AppError.from(thrown);
  const retryAt = formatTime(retryAtMs);
  own.result = { kind: "failed", deploymentId, message, code, retryAt };
  log.warn({ deployment: id, code, err: message, retryAt }, "deployment failed");
  statuses.report(id);
  return requeueAfter(delayMs, "failed");
}

async function deploy(
  deps: ReconcilerDeps,
  assignment: ReleaseAssignment,
  own: Progress,
  running: PassProgress,
  pass: DeployPass,
): Promise<Result> {
  const { assignments, deployer, statuses, dependencies, clock } = deps;
  const { id, name } = assignment.owner;
  const deployed = await deployer.deploy(assignment, pass);
  running.ended();
  dependencies.setWaitsFor(id, deployed.kind === "blocked" ? deployed.unmet.names : undefined);
  switch (deployed.kind) {
    case "blocked":
      delete own.failure;
      own.result = {
        kind: "pending",
        message: deployed.unmet.message,
        waitsFor: deployed.unmet.names,
      };
      await answerBlocked(deps, id, deployed.unmet.message);
      statuses.report(id);
      return done();
    case "wait":
      if (deployed.why === "locked") {
        const retryAt = formatTime(deployed.untilMs);
        const message = "another Helm operation is in progress";
        own.result = { kind: "pending", message, retryAt };
        statuses.report(id);
      }
      return requeueAfter(Math.max(0, deployed.untilMs - clock.now()), deployed.why);
    case "rollingBack":
      if (own.result.kind !== "failed")
        own.result = { kind: "failed", deploymentId: assignment.deploymentId, ...deployed.failure };
      await answerFailed(deps, id, deployed.failure);
      statuses.report(id);
      return requeueAfter(untilDeadlineMs(deployed.untilMs, clock), "readiness");
    case "progressing":
      delete own.failure;
      await assignments.ensureStored(name);
      statuses.setInstalled(assignment, deployed.found, { awaitsUntilMs: deployed.untilMs });
      statuses.report(id);
      return requeueAfter(untilDeadlineMs(deployed.untilMs, clock), "readiness");
    case "in-sync":
      // Even if Helm did not run.
      await assignments.ensureStored(name);
      statuses.setInstalled(assignment, deployed, {
        warning: await warningOf(deps, assignment),
      });
      if (await answerInstalled(deps, assignment, deployed)) return requeueAfter(0, "requested");
      statuses.report(id);
      return done();
    default:
      return unreachable(deployed);
  }
}

/** For what is paused: changes nothing. */
async function observe(
  deps: ReconcilerDeps,
  assignment: ReleaseAssignment,
  own: Progress,
  signal: AbortSignal,
): Promise<Result> {
  const { assignments, deployer, statuses, drift } = deps;
  await assignments.ensureStored(assignment.owner.name);
  if (own.result.kind !== "deployed") {
    // An earlier process may have installed it.
    const found = await deployer.installed(assignment, signal);
    if (found === undefined) own.result = { kind: "pending", message: "paused" };
    else statuses.setInstalled(assignment, found, { warning: await warningOf(deps, assignment) });
  }
  drift.suspend(assignment.owner.id);
  startOver(own);
  statuses.report(assignment.owner.id);
  return done();
}

async function withdraw(
  deps: ReconcilerDeps,
  assignment: ReleaseAssignment,
  own: Progress,
  signal: AbortSignal,
): Promise<Result> {
  const { assigned, deployer, statuses, dependencies, withdrawn, outbox, clock, log } = deps;
  const { owner, deploymentId } = assignment;
  const { id, name, uid } = owner;
  const isUninstall = passKind(assignment) === "uninstall";
  const waitMs = isUninstall ? untilRepeatedMs(own, deploymentId, clock.now()) : 0;
  if (waitMs > 0) return requeueAfter(waitMs, "failed");
  own.result = { kind: "withdrawing", message: "" };
  deps.drift.suspend(id);
  let isLast: boolean;
  try {
    await deployer.withdraw(assignment, signal);
    isLast = await assigned.remove(assignment);
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const count = (own.failure?.count ?? 0) + 1;
    const delayMs = delayAfter(clock, thrown, retryDelayMs(count));
    const retryAtMs = clock.now() + delayMs;
    own.failure = { deploymentId, count, retryAtMs };
    const { code, message } = AppError.from(thrown);
    own.result = { kind: "withdrawing", message, code, retryAt: formatTime(retryAtMs) };
    statuses.report(id);
    return requeueAfter(delayMs, "failed");
  }
  statuses.remove(assignment);
  if (isLast) outbox.withdrawn({ name, uid });
  const result =
    passKind(assignment) === "leave"
      ? "deployment removed, its release stays"
      : "deployment uninstalled";
  log.info({ deployment: id }, result);
  await withdrawn.removeUnreferenced();
  if (isLast) dependencies.setState(name, undefined);
  else dependencies.setWaitsFor(id, undefined);
  return done();
}

/** A deadline that has passed is checked again, until the objects of the release were read. */
const unreadMs = 1_000;

function untilDeadlineMs(untilMs: number, clock: Clock): number {
  const leftMs = untilMs - clock.now();
  return leftMs > 0 ? leftMs : unreadMs;
}

/** What exceeded a limit has a retry time of its own, which is also kept in the cluster. */
function delayAfter(clock: Clock, thrown: unknown, delayMs: number): number {
  return thrown instanceof LimitError ? Math.max(0, thrown.retryAtMs - clock.now()) : delayMs;
}

async function warningOf(
  { referrers, referenced }: ReconcilerDeps,
  assignment: ReleaseAssignment,
): Promise<string | undefined> {
  return deletedOnHubWarning(await referrers.keysOf(assignment), referenced);
}

function isCurrent(assignment: ReleaseAssignment, now: ReleaseAssignment | undefined): boolean {
  return (
    now !== undefined &&
    now.owner.uid === assignment.owner.uid &&
    now.deploymentId === assignment.deploymentId &&
    !now.withdrawing
  );
}
