/** Reconciles one deployment: installs, upgrades or uninstalls it, and sets its result and the time of the retry. */

import { AppError, unreachable } from "@flotilla/shared/errors";
import {
  done,
  type ReconcileContext,
  type Result,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTime } from "@flotilla/shared/time";
import type { DeployPass } from "../action/index.ts";
import type { Assignment, Assignments, Referrers } from "../assignment/index.ts";
import type { DependencyTracker } from "../dependencies/index.ts";
import type { DriftTracker } from "../drift/index.ts";
import type { Inventory } from "../inventory/index.ts";
import { LimitError } from "../process/index.ts";
import {
  deletedOnHubWarning,
  type ReferencedObjects,
  type WithdrawnObjects,
} from "../referenced/index.ts";
import type { Outbox } from "../report/index.ts";
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
import {
  acceptRequest,
  answerBlocked,
  answerFailed,
  answerInstalled,
  type UserRequestDeps,
} from "./user-requests.ts";

export interface Reconciler {
  reconcile(name: string, context: ReconcileContext): Promise<Result>;
  /** The inputs of a deployment have changed: no backoff of an earlier failure or of the reconcile in progress delays it. */
  inputsChanged(name: string): void;
  /** Ends the reconcile in progress if it is for another content than the current one. */
  assignmentChanged(name: string): void;
}

export interface ReconcilerDeps {
  readonly assignments: Assignments;
  readonly deployer: Deployer;
  readonly statuses: Statuses;
  readonly inventory: Pick<Inventory, "failedAttemptsOf" | "setFailedAttempts"> &
    UserRequestDeps["inventory"];
  readonly drift: Pick<DriftTracker, "suspend"> & UserRequestDeps["drift"];
  readonly dependencies: DependencyTracker;
  readonly referenced: Pick<ReferencedObjects, "get">;
  readonly referrers: Pick<Referrers, "keysOf">;
  readonly withdrawn: Pick<WithdrawnObjects, "removeUnreferenced">;
  readonly outbox: Pick<Outbox, "withdrawn">;
  readonly clock: Clock;
  readonly log: Log;
}

interface Pass {
  readonly assignment: Assignment;
  readonly superseded: AbortController;
  /** The inputs have changed since it began. */
  isStale: boolean;
}

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { assignments, statuses, dependencies, clock } = deps;
  /** In progress, by deployment. */
  const passes = new Map<string, Pass>();

  return {
    async reconcile(name, { signal, withoutWorker }) {
      const assignment = assignments.get(name);
      if (assignment === undefined) return done();
      const own = statuses.ensure(name);
      const kind = passKind(assignment);
      if (kind === "uninstall" || kind === "leave")
        return await withdraw(deps, assignment, own, signal);
      const { deploymentId } = assignment;
      const superseded = new AbortController();
      const pass: Pass = { assignment, superseded, isStale: false };
      passes.set(name, pass);
      const running = passProgress(deps, name, own, () => {
        const counted = deps.inventory.failedAttemptsOf(name);
        const isSame = counted?.deploymentId === deploymentId;
        return Math.max(failure?.count ?? 0, isSame ? counted.count : 0);
      });
      let failure = own.failure?.deploymentId === deploymentId ? own.failure : undefined;
      try {
        if (await acceptRequest(deps, assignment)) {
          failure = undefined;
          delete own.failure;
        }
        if (kind === "observe") return await observe(deps, assignment, own, signal);
        if (own.startsOver || (failure?.isStop && failure.retryAtMs <= clock.now())) {
          await deps.inventory.setFailedAttempts(name, undefined);
          delete own.startsOver;
        }
        return await deploy(deps, assignment, own, running, {
          signal,
          began: running.began,
          superseded: superseded.signal,
          withoutWorker,
          // Another attempt after a stop is not the next one of that row.
          retryAtMs: failure?.isStop ? undefined : failure?.retryAtMs,
          readinessOf: (found) => statuses.readinessOf(assignment, found),
          unmetDependencies: (content) => dependencies.unmet(name, content),
        });
      } catch (thrown) {
        // The process ends; the agent continues after a restart.
        if (signal.aborted) throw thrown;
        // The current content is enqueued already.
        if (superseded.signal.aborted) return done();
        running.ended();
        if (resultUntilChange(thrown, deploymentId)?.kind !== "pending")
          await answerFailed(deps, name, AppError.from(thrown));
        const { failed, inRow } = countFailure(failure, thrown);
        return fail(deps, assignment, own, {
          thrown,
          failed,
          delayMs: delayAfter(clock, thrown, pass.isStale ? 0 : retryDelayMs(inRow, thrown)),
        });
      } finally {
        running.ended();
        passes.delete(name);
      }
    },
    inputsChanged(name) {
      const own = statuses.get(name);
      if (own !== undefined) {
        delete own.failure;
        if (hasFailedBy(own, stopFailures)) own.startsOver = true;
      }
      const pass = passes.get(name);
      if (pass !== undefined) pass.isStale = true;
    },
    assignmentChanged(name) {
      // It may be resumed before the next pass.
      if (assignments.get(name)?.paused === true) startOver(statuses.get(name));
      const pass = passes.get(name);
      if (pass !== undefined && !isCurrent(pass.assignment, assignments.get(name)))
        pass.superseded.abort();
    },
  };
}

/** As in Flux, what is resumed is retried, as often as its retries say. */
function startOver(own: Progress | undefined): void {
  if (own === undefined) return;
  delete own.failure;
  own.startsOver = true;
}

function fail(
  { statuses, dependencies, clock, log }: ReconcilerDeps,
  { owner: { name }, deploymentId }: Assignment,
  own: Progress,
  failure: {
    readonly thrown: unknown;
    readonly failed: Omit<Failure, "deploymentId" | "retryAtMs">;
    readonly delayMs: number;
  },
): Result {
  const { thrown, failed, delayMs } = failure;
  dependencies.setWaitsFor(name, undefined);
  const untilChange = resultUntilChange(thrown, deploymentId);
  if (untilChange !== undefined) {
    own.result = untilChange;
    statuses.report(name);
    return done();
  }
  const retryAtMs = clock.now() + delayMs;
  own.failure = { ...failed, deploymentId, retryAtMs };
  const { code, message } = AppError.from(thrown);
  const retryAt = formatTime(retryAtMs);
  own.result = { kind: "failed", deploymentId, message, code, retryAt };
  log.warn({ deployment: name, code, err: message, retryAt }, "deployment failed");
  statuses.report(name);
  return requeueAfter(delayMs, "failed");
}

async function deploy(
  deps: ReconcilerDeps,
  assignment: Assignment,
  own: Progress,
  running: PassProgress,
  pass: DeployPass,
): Promise<Result> {
  const { assignments, deployer, statuses, dependencies, clock } = deps;
  const { name } = assignment.owner;
  const deployed = await deployer.deploy(assignment, pass);
  running.ended();
  dependencies.setWaitsFor(name, deployed.kind === "blocked" ? deployed.unmet.names : undefined);
  switch (deployed.kind) {
    case "blocked":
      delete own.failure;
      own.result = { kind: "pending", message: deployed.unmet.message, isBlocked: true };
      await answerBlocked(deps, name, deployed.unmet.message);
      statuses.report(name);
      return done();
    case "wait":
      if (deployed.why === "locked") {
        const retryAt = formatTime(deployed.untilMs);
        const message = "another Helm operation is in progress";
        own.result = { kind: "pending", message, retryAt };
        statuses.report(name);
      }
      return requeueAfter(Math.max(0, deployed.untilMs - clock.now()), deployed.why);
    case "rollingBack":
      if (own.result.kind !== "failed")
        own.result = { kind: "failed", deploymentId: assignment.deploymentId, ...deployed.failure };
      await answerFailed(deps, name, deployed.failure);
      statuses.report(name);
      return requeueAfter(untilDeadlineMs(deployed.untilMs, clock), "readiness");
    case "progressing":
      delete own.failure;
      await assignments.ensureStored(name);
      statuses.setInstalled(assignment, deployed.found, { awaitsUntilMs: deployed.untilMs });
      statuses.report(name);
      return requeueAfter(untilDeadlineMs(deployed.untilMs, clock), "readiness");
    case "in-sync":
      // Even if Helm did not run.
      await assignments.ensureStored(name);
      statuses.setInstalled(assignment, deployed, {
        warning: await warningOf(deps, assignment),
      });
      if (await answerInstalled(deps, assignment, deployed)) return requeueAfter(0, "requested");
      statuses.report(name);
      return done();
    default:
      return unreachable(deployed);
  }
}

/** For a paused deployment: changes nothing. */
async function observe(
  deps: ReconcilerDeps,
  assignment: Assignment,
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
  drift.suspend(assignment.owner.name);
  startOver(own);
  statuses.report(assignment.owner.name);
  return done();
}

async function withdraw(
  deps: ReconcilerDeps,
  assignment: Assignment,
  own: Progress,
  signal: AbortSignal,
): Promise<Result> {
  const { assignments, deployer, statuses, dependencies, withdrawn, outbox, clock, log } = deps;
  const { owner, deploymentId } = assignment;
  const { name } = owner;
  const isUninstall = passKind(assignment) === "uninstall";
  const waitMs = isUninstall ? untilRepeatedMs(own, deploymentId, clock.now()) : 0;
  if (waitMs > 0) return requeueAfter(waitMs, "failed");
  own.result = { kind: "withdrawing", message: "" };
  deps.drift.suspend(name);
  try {
    await deployer.withdraw(assignment, signal);
    await assignments.remove(owner);
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const count = (own.failure?.count ?? 0) + 1;
    const delayMs = delayAfter(clock, thrown, retryDelayMs(count));
    const retryAtMs = clock.now() + delayMs;
    own.failure = { deploymentId, count, retryAtMs };
    const { code, message } = AppError.from(thrown);
    own.result = { kind: "withdrawing", message, code, retryAt: formatTime(retryAtMs) };
    statuses.report(name);
    return requeueAfter(delayMs, "failed");
  }
  statuses.remove(name);
  outbox.withdrawn(owner);
  const result =
    passKind(assignment) === "leave"
      ? "deployment removed, its release stays"
      : "deployment uninstalled";
  log.info({ deployment: name }, result);
  await withdrawn.removeUnreferenced();
  dependencies.setState(name, undefined);
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
  assignment: Assignment,
): Promise<string | undefined> {
  return deletedOnHubWarning(await referrers.keysOf(assignment), referenced);
}

function isCurrent(assignment: Assignment, now: Assignment | undefined): boolean {
  return (
    now !== undefined &&
    now.owner.uid === assignment.owner.uid &&
    now.deploymentId === assignment.deploymentId &&
    !now.withdrawing
  );
}
