/**
 * The agent's loop: one key for each deployment, worked on by as many workers as Helm processes may run. It carries
 * assignments out, tells what came of them, and keeps following how what it installed is doing.
 */
import { isDeepStrictEqual } from "node:util";
import type { DeploymentKey, DeploymentState } from "@flotilla/proto/messages.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { createController } from "@flotilla/shared/kube/controller/controller.ts";
import {
  done,
  type ReconcileContext,
  type Result as ReconcileOutcome,
  requeueAfter,
} from "@flotilla/shared/kube/controller/reconcile.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import type { Registry } from "prom-client";
import type { Actors } from "../acting/actors.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Assignments } from "../assignment/assignments.ts";
import { readOnce } from "../assignment/read-once.ts";
import type { Copies } from "../copies/copies.ts";
import { reportedState } from "../dependencies/reported-state.ts";
import { createWaiting } from "../dependencies/waiting.ts";
import { agentErrors } from "../errors.ts";
import type { Releases } from "../helm/releases.ts";
import type { Inputs } from "../inputs/inputs.ts";
import type { Intake, Outbox } from "../link/ports.ts";
import { ownedObjects } from "../readiness/manifest.ts";
import type { ReadinessTracker } from "../readiness/tracker.ts";
import { composeState } from "../report/compose-state.ts";
import type { Facts } from "../supply/facts.ts";
import { lostMessage } from "../supply/lost.ts";
import { createNamers } from "../supply/namers.ts";
import type { Supplies } from "../supply/supplies.ts";
import { createUnwanted } from "../supply/unwanted.ts";
import { hasTemplates } from "../values/render-values.ts";
import type { Deployer, DeployPass, InSync } from "./deployer.ts";
import { decidedByAccount, isFailedBy, outcomeUntilChanged, type Progress } from "./progress.ts";
import { retriedMessage, retryDelayMs, timeText } from "./retry.ts";

export interface EngineDeps {
  readonly actors: Pick<Actors, "onChange">;
  readonly inputs: Pick<Inputs, "onChange">;
  readonly copies: Pick<Copies, "onChange">;
  readonly assignments: Assignments;
  readonly releases: Pick<Releases, "onChange" | "onRemoved">;
  readonly deployer: Deployer;
  readonly readiness: Omit<ReadinessTracker, "run">;
  readonly supplies: Supplies;
  readonly facts: Facts;
  readonly outbox: Outbox;
  /** Helm processes at a time. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

export interface Engine {
  /** What the link hands in. */
  readonly intake: Intake;
  /** Works until `signal` aborts and what was under way has ended. Assignments must be loaded. */
  run(signal: AbortSignal): Promise<void>;
}

/** Longer than Helm itself may wait for a release to be ready. */
const passTimeoutMs = 60 * 60_000;

interface Pass {
  readonly held: HeldAssignment;
  readonly superseded: AbortController;
  /** What it was supplied with has changed since it began. */
  isOutdated: boolean;
}

export function createEngine(deps: EngineDeps): Engine {
  const { assignments, releases, deployer, readiness, supplies, facts, outbox, clock, log } = deps;
  const namers = createNamers(assignments);
  const unwanted = createUnwanted({ supplies, namers, log });
  const isRendered = readOnce(hasTemplates, false);
  const progress = new Map<string, Progress>();
  /** Those under way, by deployment. */
  const passes = new Map<string, Pass>();

  const controller = createController({
    name: "deployment",
    workers: deps.concurrency,
    timeoutMs: passTimeoutMs,
    reconcile: pass,
    log,
    metrics: deps.metrics,
    clock,
  });
  assignments.onChange((name) => {
    const pass = passes.get(name);
    if (pass !== undefined && !isStillWanted(pass.held, assignments.get(name)))
      pass.superseded.abort();
    controller.enqueue(name);
  });
  const waiting = createWaiting({
    assignments,
    stateOf(held) {
      const own = progress.get(held.owner.name);
      return own === undefined
        ? "WaitApplied"
        : reportedState(stateNow(held, own), held.deploymentId);
    },
    wake: controller.enqueue,
  });
  deps.actors.onChange(wakeForAccount);
  releases.onChange((name) => controller.enqueue(name));
  releases.onRemoved(wakeRefused);
  readiness.onChange(tell);
  supplies.onChange((ref) => void namers.of(ref).then(lookAgain));
  deps.inputs.onChange(lookAgain);
  deps.copies.onChange(lookAgain);
  facts.onChange(() => void renderedHere().then(lookAgain));

  async function pass(
    name: string,
    { signal, withoutWorker }: ReconcileContext,
  ): Promise<ReconcileOutcome> {
    const held = assignments.get(name);
    if (held === undefined) return done();
    const own = progressOf(name);
    if (held.withdrawing) return await withdraw(held, own, signal);
    const failure = own.failure?.deploymentId === held.deploymentId ? own.failure : undefined;
    const superseded = new AbortController();
    const current: Pass = { held, superseded, isOutdated: false };
    passes.set(name, current);
    try {
      return held.paused
        ? await lookOnly(held, own, signal)
        : await deploy(held, own, {
            signal,
            superseded: superseded.signal,
            aside: withoutWorker,
            retryAtMs: failure?.retryAtMs,
            hindranceOf: (content) => waiting.hindranceOf(name, content),
          });
    } catch (thrown) {
      // The process ends: the next one goes on where this one was.
      if (signal.aborted) throw thrown;
      // What is wanted now has its own turn, which is next.
      if (superseded.signal.aborted) return done();
      waiting.waits(name, undefined);
      const untilChanged = outcomeUntilChanged(thrown, held.deploymentId);
      if (untilChanged !== undefined) {
        own.outcome = untilChanged;
        tell(name);
        return done();
      }
      const count = (failure?.count ?? 0) + 1;
      const delayMs = current.isOutdated ? 0 : retryDelayMs(count);
      const retryAtMs = clock.now() + delayMs;
      own.failure = { deploymentId: held.deploymentId, count, retryAtMs };
      const message = retriedMessage(thrown, retryAtMs);
      const { code } = AppError.from(thrown);
      own.outcome = {
        kind: "failed",
        deploymentId: held.deploymentId,
        message,
        code,
        retryAt: timeText(retryAtMs),
      };
      log.warn({ deployment: name, code, err: message }, "deployment failed");
      tell(name);
      return requeueAfter(delayMs, "failed");
    } finally {
      passes.delete(name);
    }
  }

  /** Has deployments carried out with what they now are given, and those that failed at once. */
  function lookAgain(names: Iterable<string>): void {
    for (const name of names) {
      delete progress.get(name)?.failure;
      const current = passes.get(name);
      if (current !== undefined) current.isOutdated = true;
      controller.enqueue(name);
    }
  }

  async function deploy(
    held: HeldAssignment,
    own: Progress,
    pass: DeployPass,
  ): Promise<ReconcileOutcome> {
    const { name } = held.owner;
    const deployed = await deployer.deploy(held, pass);
    waiting.waits(name, deployed.kind === "hindered" ? deployed.hindrance.names : undefined);
    if (deployed.kind === "hindered") {
      delete own.failure;
      own.outcome = { kind: "pending", message: deployed.hindrance.message };
      tell(name);
      return done();
    }
    if (deployed.kind === "wait") {
      if (deployed.why === "locked") {
        own.outcome = {
          kind: "pending",
          message: `another Helm operation is in progress; looked at again at ${timeText(deployed.untilMs)}`,
        };
        tell(name);
      }
      return requeueAfter(Math.max(0, deployed.untilMs - clock.now()), deployed.why);
    }
    // Also where Helm had nothing to do.
    await assignments.stored(name);
    settled(held, own, deployed, lostMessage(await namers.namedBy(held), supplies));
    tell(name);
    return done();
  }

  /** Changes nothing. */
  async function lookOnly(
    held: HeldAssignment,
    own: Progress,
    signal: AbortSignal,
  ): Promise<ReconcileOutcome> {
    await assignments.stored(held.owner.name);
    if (own.outcome.kind !== "deployed") {
      // What an earlier process installed is there all the same.
      const found = await deployer.installed(held, signal);
      if (found === undefined) own.outcome = { kind: "pending", message: "paused" };
      else settled(held, own, found, lostMessage(await namers.namedBy(held), supplies));
    }
    tell(held.owner.name);
    return done();
  }

  async function withdraw(
    held: HeldAssignment,
    own: Progress,
    signal: AbortSignal,
  ): Promise<ReconcileOutcome> {
    const { name } = held.owner;
    own.outcome = { kind: "withdrawing", message: "" };
    try {
      await deployer.withdraw(held, signal);
      await assignments.remove(held.owner);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const count = (own.failure?.count ?? 0) + 1;
      const retryAtMs = clock.now() + retryDelayMs(count);
      own.failure = { deploymentId: held.deploymentId, count, retryAtMs };
      own.outcome = {
        kind: "withdrawing",
        message: retriedMessage(thrown, retryAtMs),
        code: AppError.from(thrown).code,
      };
      tell(name);
      return requeueAfter(retryDelayMs(count), "failed");
    }
    readiness.forget(name);
    progress.delete(name);
    outbox.withdrawn(held.owner);
    log.info({ deployment: name }, "deployment uninstalled");
    await unwanted.dropFree();
    waiting.saw(name, undefined);
    return done();
  }

  /** The names of those that ask what the hub says of the cluster. */
  async function renderedHere(): Promise<readonly string[]> {
    const held = assignments.list();
    const areRendered = await Promise.all(held.map(isRendered));
    return held.flatMap(({ owner }, index) => (areRendered[index] ? [owner.name] : []));
  }

  /** Whoever was refused a release that another deployment had need not wait out its time: it may be free now. */
  function wakeRefused(): void {
    for (const [name, own] of progress) {
      if (isFailedBy(own, [agentErrors.RELEASE_TAKEN])) tryNow(name, own);
    }
  }

  /** A service account came or went: what waited for it goes on, and of what lacks it now that is said. */
  function wakeForAccount(): void {
    for (const { owner } of assignments.list()) {
      const own = progress.get(owner.name);
      if (own !== undefined && isFailedBy(own, decidedByAccount)) tryNow(owner.name, own);
      else controller.enqueue(owner.name);
    }
  }

  function tryNow(name: string, own: Progress): void {
    delete own.failure;
    controller.enqueue(name);
  }

  function settled(held: HeldAssignment, own: Progress, found: InSync, message?: string): void {
    delete own.failure;
    own.outcome = {
      kind: "deployed",
      deploymentId: held.deploymentId,
      release: found.release,
      ...(found.chartDigest !== undefined && { chartDigest: found.chartDigest }),
      ...(message !== undefined && { message }),
    };
    follow(held.owner.name, own, found.manifest, found.release.namespace);
  }

  function follow(name: string, own: Progress, manifest: string, namespace: string): void {
    // The same manifest in another namespace names other objects.
    const followed = `${namespace}\n${manifest}`;
    if (own.followed === followed) return;
    readiness.track(name, ownedObjects(manifest), namespace);
    own.followed = followed;
  }

  /** Reports a deployment when there is something new to say. */
  function tell(name: string): void {
    const held = assignments.get(name);
    const own = progress.get(name);
    if (held === undefined || own === undefined) return;
    const state = stateNow(held, own);
    waiting.saw(name, reportedState(state, held.deploymentId));
    if (isDeepStrictEqual(state, own.reported)) return;
    own.reported = state;
    outbox.report(state);
  }

  function stateNow(held: HeldAssignment, { outcome }: Progress): DeploymentState {
    return composeState(held, outcome, readiness.readinessOf(held.owner.name));
  }

  function progressOf(name: string): Progress {
    const known = progress.get(name);
    if (known !== undefined) return known;
    const fresh: Progress = { outcome: { kind: "pending", message: "" } };
    progress.set(name, fresh);
    return fresh;
  }

  const intake: Intake = {
    holdings: assignments.holdings,
    async assign(assignment) {
      const isStored = await assignments.assign(assignment);
      // What is stored may name less than what was; while that is not known, another start needs what it names.
      if (isStored) await unwanted.dropFree();
      return isStored;
    },
    async withdraw(deployment: DeploymentKey) {
      const outcome = await assignments.withdraw(deployment);
      if (outcome === "unknown") outbox.withdrawn(deployment);
      return outcome !== "not stored";
    },
    factsDigest: () => facts.digest,
    takeFacts: facts.take,
    supplies: supplies.held,
    takeSupply(supply) {
      unwanted.forget(supply);
      return supplies.take(supply);
    },
    dropSupply: unwanted.drop,
    states: () =>
      assignments.list().flatMap((held) => {
        const own = progress.get(held.owner.name);
        return own === undefined ? [] : [stateNow(held, own)];
      }),
  };

  return {
    intake,
    async run(signal) {
      for (const { owner } of assignments.list()) controller.enqueue(owner.name);
      await controller.run(signal);
    },
  };
}

function isStillWanted(held: HeldAssignment, now: HeldAssignment | undefined): boolean {
  return (
    now !== undefined &&
    now.owner.uid === held.owner.uid &&
    now.deploymentId === held.deploymentId &&
    !now.withdrawing
  );
}
