/**
 * The agent's controller: one key for each deployment, with as many workers as Helm processes may run. It reconciles
 * assignments, reports the results, and keeps reporting the readiness of what is installed.
 */

import { formatObjectRef } from "@flotilla/shared/api";
import { createController } from "@flotilla/shared/kube/controller";
import type { Log } from "@flotilla/shared/log";
import type { ProcessWatch } from "@flotilla/shared/process";
import { referencedObjectsOf } from "@flotilla/shared/referenced";
import type { Clock } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import { canBecomeReady } from "../action/index.ts";
import {
  type Assignments,
  createReferrers,
  type Intake,
  memoizeByContent,
} from "../assignment/index.ts";
import { createDependencyTracker } from "../dependencies/index.ts";
import type { DownstreamResources } from "../downstream/index.ts";
import type { DriftTracker } from "../drift/index.ts";
import { agentErrors } from "../errors/index.ts";
import type { Releases } from "../helm/index.ts";
import type { ImpersonatedClients } from "../impersonation/index.ts";
import type { Inventory } from "../inventory/index.ts";
import type { ReadinessTracker } from "../readiness/index.ts";
import {
  type ClusterInfoStore,
  createWithdrawnObjects,
  type ReferencedObjects,
} from "../referenced/index.ts";
import type { FetchedSources, Outbox } from "../report/index.ts";
import { hasTemplates, type InputCollector } from "../values/index.ts";
import type { Deployer } from "./deployer.ts";
import { createIntake } from "./intake.ts";
import { accountFailures, hasFailedBy, stopFailures } from "./progress.ts";
import { createReconciler } from "./reconciler.ts";
import { createStatuses } from "./statuses.ts";

export interface EngineDeps {
  readonly clients: Pick<ImpersonatedClients, "onChange">;
  readonly inputs: Pick<InputCollector, "onChange">;
  readonly downstream: Pick<DownstreamResources, "onChange">;
  readonly assignments: Assignments;
  readonly inventory: Pick<
    Inventory,
    | "releasesOf"
    | "isComplete"
    | "setComplete"
    | "deadlineOf"
    | "failedAttemptsOf"
    | "knows"
    | "setFailedAttempts"
    | "handledRequestOf"
    | "requestOf"
    | "acceptRequest"
    | "answerRequest"
  >;
  readonly releases: Pick<Releases, "onChange" | "onRemoved" | "onReadable" | "history">;
  readonly deployer: Deployer;
  readonly readiness: Pick<
    ReadinessTracker,
    "track" | "forget" | "readinessOf" | "sharedObjectsOf" | "onChange"
  >;
  readonly drift: Omit<DriftTracker, "run" | "correct">;
  readonly sources: FetchedSources;
  readonly referenced: ReferencedObjects;
  readonly clusterInfo: ClusterInfoStore;
  readonly outbox: Outbox;
  /** Helm processes at a time, and as many slow ones besides. */
  readonly concurrency: number;
  /** Those that run for reconciles. */
  readonly processes?: Pick<ProcessWatch, "onSlow"> | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

export interface Engine {
  /** Receives what the hub sends. */
  readonly intake: Intake;
  /**
   * Until `signal` aborts and the reconciles in progress have ended, which `abort` (default: `signal`) cuts short. Assignments
   * must be loaded.
   */
  run(signal: AbortSignal, abort?: AbortSignal): Promise<void>;
}

/** Longer than Helm may wait for a release to become ready. */
const reconcileTimeoutMs = 60 * 60_000;

export function createEngine(deps: EngineDeps): Engine {
  const { assignments, releases, readiness, referenced, clusterInfo, outbox } = deps;
  const referrers = createReferrers(assignments, referencedObjectsOf);
  const withdrawn = createWithdrawnObjects({ referenced, referrers, log: deps.log });
  const isTemplated = memoizeByContent(hasTemplates, false);
  const statuses = createStatuses({
    assignments,
    readiness,
    releases,
    inventory: deps.inventory,
    drift: deps.drift,
    sources: deps.sources,
    outbox,
    clock: deps.clock,
    onState: (name, state) => dependencies.setState(name, state),
  });
  const dependencies = createDependencyTracker({
    assignments,
    stateOf: statuses.reportedStateOf,
    enqueue: (name) => controller.enqueue(name),
  });
  const reconciler = createReconciler({
    ...deps,
    statuses,
    dependencies,
    referrers,
    withdrawn,
  });
  const controller = createController({
    name: "deployment",
    workers: deps.concurrency,
    timeoutMs: reconcileTimeoutMs,
    reconcile: reconciler.reconcile,
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
  });

  assignments.onChange((name) => {
    reconciler.assignmentChanged(name);
    controller.enqueue(name);
  });
  releases.onChange((name) => controller.enqueue(name));
  releases.onRemoved(enqueueConflicting);
  releases.onReadable(inputsChanged);
  readiness.onChange((name) => {
    statuses.report(name);
    readinessChanged(name);
  });
  deps.drift.onChange((name) => {
    statuses.report(name);
    if (deps.drift.driftOf(name)?.corrects === true) controller.enqueue(name);
  });
  deps.drift.onCompared((name) => controller.enqueue(name));
  deps.clients.onChange(accountsChanged);
  referenced.onChange((ref) => void referrers.of(formatObjectRef(ref)).then(inputsChanged));
  deps.inputs.onChange(inputsChanged);
  deps.downstream.onChange(inputsChanged);
  clusterInfo.onChange(() => void templated().then(inputsChanged));

  function inputsChanged(names: Iterable<string>): void {
    for (const name of names) {
      reconciler.inputsChanged(name);
      controller.enqueue(name);
    }
  }

  /** A release that is waited for continues; one that was not ready in time is retried once it is. */
  function readinessChanged(name: string): void {
    const own = statuses.get(name);
    if (own === undefined) return;
    if (deps.inventory.deadlineOf(name) !== undefined) controller.enqueue(name);
    const isReady = readiness.readinessOf(name)?.ready === true;
    const hasFailed = hasFailedBy(own, [agentErrors.RELEASE_NOT_READY, ...stopFailures]);
    if (isReady && hasFailed && canBecomeReady(deps.inventory.failedAttemptsOf(name)))
      inputsChanged([name]);
  }

  /** Deployments whose values use the cluster info. */
  async function templated(): Promise<readonly string[]> {
    const list = assignments.list();
    const flags = await Promise.all(list.map(isTemplated));
    return list.flatMap(({ owner }, index) => (flags[index] ? [owner.name] : []));
  }

  /** A release was removed: enqueues the deployments that failed because another deployment owned it. */
  function enqueueConflicting(): void {
    for (const [name, own] of statuses.list()) {
      if (!hasFailedBy(own, [agentErrors.RELEASE_CONFLICT])) continue;
      delete own.failure;
      controller.enqueue(name);
    }
  }

  /** A service account was created or deleted: enqueues all deployments, without the backoff of failures because of one. */
  function accountsChanged(): void {
    for (const { owner } of assignments.list()) {
      const own = statuses.get(owner.name);
      if (own !== undefined && hasFailedBy(own, accountFailures)) delete own.failure;
      controller.enqueue(owner.name);
    }
  }

  /** A process that takes long has low priority: its reconcile does not count, so that others do not wait for it. */
  function setWorkers(slow: number): void {
    controller.setWorkers(deps.concurrency + Math.min(slow, deps.concurrency));
  }

  return {
    intake: createIntake({ ...deps, withdrawn, statuses }),
    async run(signal, abort) {
      const stop = deps.processes?.onSlow(setWorkers);
      for (const { owner } of assignments.list()) controller.enqueue(owner.name);
      await controller.run(signal, abort).finally(() => {
        stop?.();
        statuses.stop();
      });
    },
  };
}
