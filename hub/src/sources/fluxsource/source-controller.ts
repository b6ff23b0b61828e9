/**
 * The controller of one kind of sources: reads each object of it when it is due, and publishes what it had or why it could not be
 * read. What differs between the kinds is in a `SourceKind`.
 */

import type { ObjectRef } from "@flotilla/shared/api";
import { fluxFinalizer } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { fluxType } from "@flotilla/shared/flux/reasons";
import {
  type Controller,
  createController,
  done,
  isEnding,
  isSpecChange,
  ownKey,
  type Reconcile,
  type ReconcileContext,
  type Result,
  removeFinalizer,
  requeueAfter,
  type Watch,
  watch,
} from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey, type Resource } from "@flotilla/shared/kube/objects";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import { formatTimeMs } from "@flotilla/shared/time";
import {
  type ControllerDeps,
  createPublisher,
  isUrgentChange,
  type Publisher,
} from "../../base/index.ts";
import { type ReconcileDurations, type WorkspaceObjects, watchAttempt } from "../../rules/index.ts";
import { createObjectUses } from "./object-uses.ts";
import { scheduleAfter, scheduleOf } from "./schedule.ts";
import { sourceErrorOf } from "./source-error.ts";
import { sourceEvent } from "./source-event.ts";
import {
  failed,
  progressing,
  retrying,
  type SourceObject,
  type SourceResult,
  type SourceStatus,
  succeeded,
  suspended,
} from "./source-status.ts";

/** Reads a Secret of the object's namespace that `secretsOf` has named; undefined: it does not exist. */
export type ReadSecret = (name: string) => ReferencedObjectData | undefined;

export interface SourceInputs {
  readonly secret: ReadSecret;
  readonly signal: AbortSignal;
}

export interface SourceKind<T extends SourceObject> {
  /** The name of the controller. */
  readonly name: string;
  readonly resource: Resource<T>;
  /** Whether the object is a source that is read at all. */
  readonly isRead?: (object: T) => boolean;
  /** Undefined: it is read only when something changes. */
  readonly intervalOf: (object: T) => string | undefined;
  /** The address of the source, without secrets. */
  readonly addressOf: (object: T) => string;
  /** The names of the Secrets that it is read with, in its namespace. */
  readonly secretsOf: (object: T) => readonly string[];
  /** Identifies what else it is read with, such as the revision of another source. */
  readonly inputsOf?: (object: T) => string;
  /** Whether the source that it is made from is being read: until then what it has stays as it is. */
  readonly isWaiting?: (object: T) => boolean;
  /** Whether what its status has cannot be used, such as when somebody else has written it: the object is read at once then. */
  readonly isDamaged?: (object: T) => boolean;
  /** Throws a SourceError or an AppError. */
  readonly read: (object: T, inputs: SourceInputs) => Promise<SourceResult>;
  /** For errors that have no reason of their own. */
  readonly failureReason?: string;
}

export interface SourceControllerDeps extends Omit<ControllerDeps, "caches"> {
  readonly objects: Pick<WorkspaceObjects, "watch" | "unwatch" | "refresh" | "onChange">;
  readonly hubId: string;
  readonly durations: ReconcileDurations;
}

export interface SourceController<T extends SourceObject> {
  readonly controller: Controller;
  readonly statuses: Publisher<NonNullable<T["status"]>, T>;
}

/** A reconcile may wait for a large index or repository. */
const timeoutMs = 6 * 60_000;

type Status<T extends SourceObject> = NonNullable<T["status"]>;

export function createSourceController<T extends SourceObject>(
  kind: SourceKind<T>,
  source: Parameters<typeof watch<T>>[0],
  deps: SourceControllerDeps & { readonly watches?: readonly Watch[] },
): SourceController<T> {
  const { rest, clock, events, log } = deps;
  const uses = createObjectUses(deps.objects);
  const statuses = createPublisher<Status<T>, T>({
    rest,
    clock,
    log,
    resource: kind.resource,
    store: source.store,
    isUrgent: isUrgentSource,
    rollUp: ({ status }) => status,
  });

  const reconcile: Reconcile = async (key, context) => {
    const object = source.store.get(key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
      uses.forget(key);
      // Flux's controllers may have left it there.
      if (object !== undefined)
        await removeFinalizer(
          {
            rest,
            resource: kind.resource,
            store: source.store,
            finalizer: fluxFinalizer,
            signal: context.signal,
          },
          object,
        );
      return done();
    }
    if (kind.isRead?.(object) === false) {
      uses.forget(key);
      if (Object.keys(statuses.current(object) ?? {}).length > 0) publish(object, {});
      return done();
    }
    return await reconcileSource(object, context);
  };

  async function reconcileSource(object: T, context: ReconcileContext): Promise<Result> {
    const key = keyOf(object);
    const { namespace = "" } = object.metadata;
    const names = kind.secretsOf(object);
    const secrets = await uses.use(
      key,
      names.map((name) => ({ namespace, ref: secretRef(name) })),
    );
    const versions = secrets.map(({ resourceVersion }) => resourceVersion);
    const inputs = [...versions, kind.inputsOf?.(object) ?? ""].filter(Boolean).join(" ");
    // The last status may have been written while the Secrets were read.
    const latest = source.store.get(key);
    const status: SourceStatus | undefined = statuses.current(
      latest !== undefined && latest.metadata.uid === object.metadata.uid ? latest : object,
    );
    const observed: SourceObject = { ...object, ...(status !== undefined && { status }) };
    const nowMs = clock.now();
    const schedule = scheduleOf(observed, { nowMs, inputs });
    const handled =
      schedule.request === undefined ? {} : { lastHandledReconcileAt: schedule.request };
    if (object.spec?.suspend === true) {
      const next = { ...suspended(observed, status), ...handled };
      if (Object.keys(next).length > 0) publish(object, next);
      return done();
    }
    const isRead = status?.polling?.observedGeneration === object.metadata.generation;
    if (isRead && schedule.request === undefined && kind.isWaiting?.(object) === true)
      return done();
    if (!schedule.isDue && kind.isDamaged?.(object) !== true)
      return requeueAt(status?.polling?.nextAttemptTime, nowMs);
    if (!isRead) publish(object, progressing(observed, status, formatTimeMs(nowMs)));
    const secret: ReadSecret = (name) => secrets[names.indexOf(name)]?.data;
    const read = () =>
      kind.read(object, { secret, signal: context.signal }).catch((thrown: unknown) => {
        if (isEnding(context.signal)) throw thrown;
        return sourceErrorOf(thrown, kind.failureReason);
      });
    const result = await context.withoutWorker(() =>
      watchAttempt(clock, read, (startedAtMs) => publishRetrying(object, startedAtMs)),
    );
    const endedMs = clock.now();
    const now = formatTimeMs(endedMs);
    const error = result instanceof Error ? result : undefined;
    const polling = scheduleAfter(observed, {
      nowMs: endedMs,
      inputs,
      error,
      interval: kind.intervalOf(object),
      address: kind.addressOf(object),
      hubId: deps.hubId,
    });
    const next =
      result instanceof Error
        ? failed(observed, status, result, { now, retryAt: polling.nextAttemptTime })
        : succeeded(observed, status, result, now);
    const event = sourceEvent(kind.resource.group, status, result);
    if (event !== undefined) events.record(object, event);
    publish(object, { ...next, ...handled, polling });
    return requeueAt(polling.nextAttemptTime, endedMs);
  }

  function publishRetrying(object: T, startedAtMs: number): void {
    const latest = source.store.get(keyOf(object));
    if (latest === undefined || latest.metadata.uid !== object.metadata.uid) return;
    const status: SourceStatus | undefined = statuses.current(latest);
    if (status !== undefined) publish(latest, retrying(status, startedAtMs));
  }

  function publish(object: T, status: SourceStatus): void {
    statuses.publish(object, status);
  }

  /** Repositories in registries are not reconciled, so they have no durations, as in Flux. */
  const readObjects = {
    get(key: ObjectKey) {
      const object = source.store.get(key);
      return object === undefined || kind.isRead?.(object) === false ? undefined : object;
    },
  };
  const controller = createController({
    name: kind.name,
    workers: 16,
    timeoutMs,
    reconcile: deps.durations.timed(kind.resource.kind, readObjects, reconcile),
    log,
    metrics: deps.metrics,
    clock,
    watches: [
      watch(source, {
        // Somebody else has written its status.
        predicate: (change) =>
          isSpecChange(change) ||
          (change.after !== undefined && kind.isDamaged?.(change.after) === true),
        toKeys: ownKey,
      }),
      uses.watch,
      ...(deps.watches ?? []),
    ],
  });
  return { controller, statuses };
}

function requeueAt(time: string | undefined, nowMs: number): Result {
  return time === undefined
    ? done()
    : requeueAfter(Math.max(0, Date.parse(time) - nowMs), "interval");
}

/** What others wait for: another artifact, another result, an observed generation. */
function isUrgentSource(before: SourceStatus | undefined, after: SourceStatus): boolean {
  if (
    before?.artifact?.revision !== after.artifact?.revision ||
    before?.observedGeneration !== after.observedGeneration ||
    before?.lastHandledReconcileAt !== after.lastHandledReconcileAt ||
    (before?.polling?.failures ?? 0) !== (after.polling?.failures ?? 0)
  )
    return true;
  return [fluxType.ready, fluxType.stalled].some((type) =>
    isUrgentChange(findCondition(before?.conditions, type), findCondition(after.conditions, type)),
  );
}

function secretRef(name: string): ObjectRef {
  return { kind: "Secret", name };
}
