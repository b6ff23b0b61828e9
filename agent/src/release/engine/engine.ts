/**
 * The agent's controller: one key for each release, with as many workers as Helm processes may run. It reconciles
 * assignments, reports the results, and keeps reporting the readiness of what is installed.
 */

import { formatObjectRef } from "@flotilla/shared/api";
import { createController } from "@flotilla/shared/kube/controller";
import type { Log } from "@flotilla/shared/log";
import type { ProcessWatch } from "@flotilla/shared/process";
import { referencedObjectsOf } from "@flotilla/shared/referenced";
import type { Clock } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClients } from "../../base/index.ts";
import type { Releases } from "../../helm/index.ts";
import {
  createDependencyTracker,
  type DownstreamResources,
  hasTemplates,
  type InputCollector,
} from "../../inputs/index.ts";
import type {
  DriftTracker,
  FetchedSources,
  Outbox,
  ReadinessTracker,
} from "../../observe/index.ts";
import {
  type AcceptedRequests,
  type Assignments,
  type Attempts,
  type ClusterInfoStore,
  createReferrers,
  createWithdrawnObjects,
  type Intake,
  type Inventory,
  type InventoryStore,
  memoizeByContent,
  type ReferencedObjects,
  type Referrers,
  type ReleaseAssignments,
} from "../../state/index.ts";
import { canBecomeReady } from "../action/failed-attempts.ts";
import type { Deployer } from "./deployer.ts";
import { createIntake } from "./intake.ts";
import { accountFailures, hasFailedBy, stopFailures } from "./progress.ts";
import { Reconciler } from "./reconciler.ts";
import { Statuses } from "./statuses.ts";

export interface EngineDeps {
  readonly clients: Pick<ImpersonatedClients, "onChange">;
  readonly inputs: Pick<InputCollector, "onChange">;
  readonly downstream: Pick<DownstreamResources, "onChange">;
  readonly assignments: Assignments;
  readonly assigned: ReleaseAssignments;
  readonly inventory: Pick<Inventory, "releasesOf" | "knows">;
  readonly attempts: Pick<Attempts, "deadlineOf" | "failedAttemptsOf" | "setFailedAttempts">;
  readonly documents: Pick<InventoryStore, "isComplete" | "setComplete">;
  readonly requests: Pick<
    AcceptedRequests,
    "handledRequestOf" | "requestOf" | "acceptRequest" | "answerRequest"
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
  const { assignments, assigned, referenced } = deps;
  const referrers = createReferrers(assigned, referencedObjectsOf);
  const withdrawn = createWithdrawnObjects({ referenced, referrers, log: deps.log });
  const statuses = new Statuses({
    ...deps,
    onState: (name, state) => dependencies.setState(name, state),
  });
  const dependencies = createDependencyTracker({
    assignments,
    stateOf: (deployment) => statuses.reportedStateOf(deployment),
    enqueue: (id) => controller.enqueue(id),
  });
  const reconciler = new Reconciler({
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
    reconcile: (id, context) => reconciler.reconcile(id, context),
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
  });
  watch(deps, { statuses, reconciler, referrers, enqueue: (id) => controller.enqueue(id) });

  /** A process that takes long has low priority: its reconcile does not count, so that others do not wait for it. */
  function setWorkers(slow: number): void {
    controller.setWorkers(deps.concurrency + Math.min(slow, deps.concurrency));
  }

  return {
    intake: createIntake({ ...deps, withdrawn, statuses }),
    async run(signal, abort) {
      const stop = deps.processes?.onSlow(setWorkers);
      for (const { owner } of assigned.list()) controller.enqueue(owner.id);
      await controller.run(signal, abort).finally(() => {
        stop?.();
        statuses.stop();
      });
    },
  };
}

interface Watching {
  readonly statuses: Statuses;
  readonly reconciler: Reconciler;
  readonly referrers: Referrers;
  readonly enqueue: (id: string) => void;
}

/** What enqueues which releases. */
function watch(deps: EngineDeps, { statuses, reconciler, referrers, enqueue }: Watching): void {
  const { assigned, releases, readiness, referenced, clusterInfo, drift, attempts } = deps;
  const isTemplated = memoizeByContent(hasTemplates, false);
  assigned.onChange((id) => {
    reconciler.assignmentChanged(id);
    enqueue(id);
  });
  releases.onChange(enqueue);
  releases.onRemoved(enqueueConflicting);
  releases.onReadable(inputsChanged);
  readiness.onChange((id) => {
    statuses.report(id);
    readinessChanged(id);
  });
  drift.onChange((id) => {
    statuses.report(id);
    if (drift.driftOf(id)?.corrects === true) enqueue(id);
  });
  drift.onCompared(enqueue);
  deps.clients.onChange(accountsChanged);
  referenced.onChange((ref) => void referrers.of(formatObjectRef(ref)).then(inputsChanged));
  deps.inputs.onChange(inputsChanged);
  deps.downstream.onChange(inputsChanged);
  clusterInfo.onChange(() => void templated().then(inputsChanged));

  function inputsChanged(ids: Iterable<string>): void {
    for (const id of ids) {
      reconciler.inputsChanged(id);
      enqueue(id);
    }
  }

  /** A release that is waited for continues; one that was not ready in time is retried once it is. */
  function readinessChanged(id: string): void {
    const own = statuses.get(id);
    if (own === undefined) return;
    if (attempts.deadlineOf(id) !== undefined) enqueue(id);
    const isReady = readiness.readinessOf(id)?.ready === true;
    const hasFailed = hasFailedBy(own, [agentErrors.RELEASE_NOT_READY, ...stopFailures]);
    if (isReady && hasFailed && canBecomeReady(attempts.failedAttemptsOf(id))) inputsChanged([id]);
  }

  /** Releases whose values use the cluster info. */
  async function templated(): Promise<readonly string[]> {
    const list = assigned.list();
    const flags = await Promise.all(list.map(isTemplated));
    return list.flatMap(({ owner }, index) => (flags[index] ? [owner.id] : []));
  }

  /** A release was removed: enqueues those that failed because another one was at their place. */
  function enqueueConflicting(): void {
    for (const [id, own] of statuses.list()) {
      if (!hasFailedBy(own, [agentErrors.RELEASE_CONFLICT])) continue;
      delete own.failure;
      enqueue(id);
    }
  }

  /** A service account was created or deleted: enqueues all releases, without the backoff of failures because of one. */
  function accountsChanged(): void {
    for (const { owner } of assigned.list()) {
      const own = statuses.get(owner.id);
      if (own !== undefined && hasFailedBy(own, accountFailures)) delete own.failure;
      enqueue(owner.id);
    }
  }
}
