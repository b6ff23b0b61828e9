/**
 * The contract between a controller and its reconcile function.
 *
 * Level-based: a reconcile gets the key of an object and never what happened to it. It compares the observed with the
 * desired state, and may run again at any time. A throw is retried with backoff; an error that no retry can fix
 * (`retryable` false) waits for the next change of the object.
 */
import { AppError } from "../../runtime/errors/index.ts";
import type { Log } from "../../runtime/log/index.ts";
import { kubeErrors } from "../client/index.ts";
import type { ObjectKey } from "../objects/index.ts";

export type Reconcile = (key: ObjectKey, context: ReconcileContext) => Promise<Result>;

export interface ReconcileContext {
  /** Aborts when the run exceeds its timeout or the controller stops. */
  readonly signal: AbortSignal;
  /** Has the controller and the key in each line. */
  readonly log: Log;
  /** Failures of this key in a row before this run (client-go: NumRequeues). */
  readonly retries: number;
  /**
   * Runs I/O that may take long, such as a request to a chart repository, without occupying one of the controller's
   * workers: others reconcile meanwhile. The key stays locked, and the run continues when a worker is free again.
   */
  withoutWorker<T>(io: () => Promise<T>): Promise<T>;
}

/** How a reconcile ended without an error. */
export type Result =
  | { readonly kind: "done" }
  | { readonly kind: "requeue"; readonly afterMs: number; readonly why: string };

const doneResult: Result = { kind: "done" };

/** Nothing to do until the next change. */
export function done(): Result {
  return doneResult;
}

/** Reconcile again after `afterMs`, or at the next change if that is sooner. `why` is for the log. */
export function requeueAfter(afterMs: number, why: string): Result {
  return { kind: "requeue", afterMs, why };
}

/**
 * Whether the signal of a run aborted because the process stops or its leadership ends: what the run throws then is
 * no failure of the object. False when the run exceeded its timeout.
 */
export function isEnding({ aborted, reason }: AbortSignal): boolean {
  const isTimeout = reason instanceof AppError && reason.code === kubeErrors.RECONCILE_TIMEOUT.code;
  return aborted && !isTimeout;
}
