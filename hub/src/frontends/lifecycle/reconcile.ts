/**
 * The life of an object that users write, whatever its kind: it is validated, compiled to a release, judged by Policies, resolved and
 * kept as a Bundle, until it is deleted and nothing of it is left.
 */
import type { Condition } from "@flotilla/shared/api";
import { appDefinition } from "@flotilla/shared/api/apps";
import { findCondition } from "@flotilla/shared/conditions";
import {
  addFinalizer,
  done,
  type FinalizerOptions,
  type Reconcile,
  type ReconcileContext,
  type Result,
  removeFinalizer,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import {
  bundleOf,
  deleteBundle,
  judge,
  nameTaken,
  type OwnBundleDeps,
  ownBundle,
  type PlannedRelease,
  type PolicyDeps,
  policiesFor,
  recordViolation,
  setSuspended,
  withDefaultsOf,
  writeBundle,
} from "../../rules/index.ts";
import type { FrontEnd, Refused, Resolution } from "./front-end.ts";

export interface LifecycleDeps extends OwnBundleDeps, PolicyDeps {
  readonly events: EventRecorder;
  readonly clock: Pick<Clock, "now">;
}

/** Whether clusters are still connected that uninstall a release; the last of its deployments reconciles it at once. */
const uninstallCheckMs = 30_000;

type WithConditions = { readonly conditions?: readonly Condition[] | undefined };

export function frontEndReconciler<T extends KubeObject, S extends WithConditions, D>(
  frontEnd: FrontEnd<T, S, D>,
  deps: LifecycleDeps,
): Reconcile {
  const { kind, statuses } = frontEnd;

  return async function reconcile(key, context) {
    const object = frontEnd.store.get(key);
    const isEnding = object?.metadata.deletionTimestamp !== undefined;
    if (object === undefined || isEnding) frontEnd.forget?.(key);
    if (object === undefined) return done();
    if (isEnding) return await finalize(object, context.signal);
    if (frontEnd.createsObjects !== true) return await update(object, context);
    const kept = await addFinalizer(finalizer(context.signal), object);
    // Deleted before it had the finalizer.
    return kept === undefined ? done() : await update(kept, context);
  };

  async function update(object: T, context: ReconcileContext): Promise<Result> {
    // Read once: while this reconcile waits, the status may be written, and the status of this version of the object be forgotten.
    const status = statuses.current(object);
    if (frontEnd.suspended !== undefined && frontEnd.isSuspended(object))
      return await suspend(object, status, context.signal);
    const invalid = frontEnd.validate?.(object) ?? nameTaken(kind, deps.bundles, object);
    if (invalid !== undefined)
      return reject(object, status, { kind: "refused", error: invalid }, { isInvalid: true });
    const compiled = await frontEnd.compile(object, status, context);
    if (compiled.kind === "refused") return reject(object, status, compiled);
    if (compiled.kind === "waiting") {
      publish(object, status, compiled.decision);
      return done();
    }
    const policies = policiesFor(deps, compiled.release);
    const release =
      frontEnd.takesDefaults === true
        ? withDefaultsOf(policies, compiled.release)
        : compiled.release;
    const error = frontEnd.check?.(release) ?? judge(deps, policies, release);
    if (error !== undefined) return reject(object, status, { kind: "refused", error });
    const [resolution, kept] = await Promise.all([
      compiled.kind === "resolved"
        ? resolved(release, compiled.decision)
        : compiled.resolve(release, policies),
      addFinalizer(finalizer(context.signal), object),
    ]);
    if (resolution.kind === "refused") return reject(object, status, resolution);
    // Deleted before it had the finalizer: nobody would ever delete its Bundle.
    if (kept === undefined) return done();
    const { charts, decision, result = done() } = resolution;
    if (charts !== undefined)
      await writeBundle(deps, deps.signer.signed(bundleOf(release, charts)), context.signal);
    publish(object, status, decision);
    return result;
  }

  /**
   * Whether it is suspended is all that the Bundle gets of an object that is not read, however the rest of it has changed. Its
   * requests stay open until it is resumed.
   */
  async function suspend(object: T, before: S | undefined, signal: AbortSignal): Promise<Result> {
    const bundle = ownBundle(kind, deps.bundles, object);
    if (bundle !== undefined) await setSuspended(deps, bundle, true, signal);
    const status = frontEnd.suspended?.(object, before);
    if (status !== undefined) statuses.publish(object, status);
    return done();
  }

  /** The finalizer stays until the Bundle is gone, and where the front end says so its releases. */
  async function finalize(object: T, signal: AbortSignal): Promise<Result> {
    const isSuspended = frontEnd.isSuspended(object);
    const deleting = await deleteBundle(deps, kind, { object, isSuspended }, signal);
    if (deleting !== undefined) return deleting;
    if (frontEnd.isUninstalling?.(object) === true && !isSuspended)
      return requeueAfter(uninstallCheckMs, "a cluster that uninstalls it may disconnect");
    await frontEnd.cleanUp?.(object, signal);
    await removeFinalizer(finalizer(signal), object);
    return done();
  }

  function publish(object: T, before: S | undefined, decision: D): void {
    const after = frontEnd.decided(object, before, decision, nowText());
    frontEnd.record?.(object, before, after);
    statuses.publish(object, after);
  }

  /** Nothing changes in what is deployed. A watch reconciles it again when what is wrong has changed. */
  function reject(
    object: T,
    status: S | undefined,
    { error, result = done() }: Refused,
    { isInvalid } = { isInvalid: false },
  ): Result {
    recordViolation(deps.events, object, findCondition(status?.conditions, "Accepted"), error);
    const now = nowText();
    statuses.publish(object, frontEnd.rejected(object, status, { error, isInvalid, now }));
    return result;
  }

  function nowText(): string {
    return formatTimeMs(deps.clock.now());
  }

  function finalizer(signal: AbortSignal): FinalizerOptions<T> {
    const { resource, store } = frontEnd;
    return { rest: deps.rest, resource, store, finalizer: appDefinition(kind).finalizer, signal };
  }
}

function resolved<D>({ pins = [] }: PlannedRelease, decision: D): Resolution<D> {
  return { kind: "resolved", charts: { pins }, decision };
}
